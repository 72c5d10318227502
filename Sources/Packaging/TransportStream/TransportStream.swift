package import Media

/// The MPEG transport stream (ISO/IEC 13818-1) of one session: whole packets for each access unit. docs/formats.md lists its tables.
///
/// A player may begin at any keyframe: its packets begin with the program's tables.
package struct TransportStream: Sendable {
    /// The longest that the tables stay away, in µs of PTS, as far as there are access units.
    private static let tableInterval: Int64 = 100_000
    /// Bytes of the adaptation field with a program clock, its length byte included.
    private static let clockFieldSize = 8
    private static let elementaryHeaderSize = 14

    private let codec: Codec
    private let tables: ProgramTables
    private var (associationContinuity, mapContinuity, videoContinuity): (UInt8, UInt8, UInt8) = (0, 0, 0)
    private var lastTables: Int64?

    package init(codec: Codec) {
        self.codec = codec
        tables = ProgramTables(codec: codec)
    }

    /// Packages the session's next access unit.
    package mutating func packets(_ accessUnit: AccessUnit) throws(PackagingError) -> [UInt8] {
        try packets(accessUnit.bytes, pts: accessUnit.pts, isKey: accessUnit.isKey)
    }

    /// Packages the session's next access unit, of which these are the Annex B bytes, the PTS in µs, and whether it is a keyframe.
    package mutating func packets(_ picture: [UInt8], pts: Int64, isKey: Bool) throws(PackagingError) -> [UInt8] {
        guard let header = Self.leadingHeader(of: picture) else { throw .noPicture }
        let time = TransportTime(pts: pts)
        let hasDelimiter = NALUnitKind(header: header, codec: codec) == .delimiter
        let delimiter = hasDelimiter ? [] : codec.delimiter
        let size = Self.elementaryHeaderSize + delimiter.count + picture.count

        let firstRoom = TransportPacket.bodySize - Self.clockFieldSize
        let packetCount = 1 + (max(0, size - firstRoom) + TransportPacket.bodySize - 1) / TransportPacket.bodySize
        let sendsTables = isKey || areTablesDue(at: pts)
        var bytes: [UInt8] = []
        bytes.reserveCapacity((packetCount + (sendsTables ? 2 : 0)) * TransportPacket.size)
        if sendsTables {
            appendTables(to: &bytes)
            lastTables = pts
        }

        // The first packet has the clock, the headers, and what fits of the picture.
        let room = firstRoom - Self.elementaryHeaderSize - delimiter.count
        var rest = picture[...]
        let first = rest.takeFirst(room)
        let filling = room - first.count
        appendVideoHeader(startsUnit: true, content: .both, to: &bytes)
        bytes.append(UInt8(clamping: Self.clockFieldSize - 1 + filling))
        bytes.append(0x10 | (isKey ? 0x40 : 0))  // PCR_flag, random_access_indicator
        time.appendClock(to: &bytes)
        bytes += repeatElement(TransportPacket.padding, count: max(0, filling))
        Self.appendElementaryHeader(size: size, time, to: &bytes)
        bytes += delimiter
        bytes += first
        while !rest.isEmpty { appendVideoPacket(rest.takeFirst(TransportPacket.bodySize), to: &bytes) }
        return bytes
    }

    /// Tells a player that it lost packets: a packet with the discontinuity indicator for each counter that continues in `packets`.
    ///
    /// - Parameter packets: Those that come next, as made by ``packets(_:)``. A keyframe's have all counters.
    package static func discontinuity(before packets: some RandomAccessCollection<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(3 * TransportPacket.size)
        var (rest, seen) = (packets[...], Set<UInt16>())
        while rest.count >= TransportPacket.size, seen.count < 3 {
            let header = Array(rest.prefix(TransportPacket.headerSize))
            rest = rest.dropFirst(TransportPacket.size)
            let (high, low) = (header[at: 1] ?? 0, header[at: 2] ?? 0)
            let pid = (UInt16(clamping: high) << 8 | UInt16(clamping: low)) & 0x1FFF
            guard seen.insert(pid).inserted else { continue }
            // A packet without payload repeats the counter of the one before it.
            let next = header[at: 3] ?? 0
            TransportPacket.appendHeader(
                pid: pid,
                startsUnit: false,
                content: .adaptation,
                continuity: (next &- 1) & 0x0F,
                to: &bytes
            )
            bytes += [UInt8(clamping: TransportPacket.bodySize - 1), 0x80]  // discontinuity_indicator
            bytes += repeatElement(TransportPacket.padding, count: max(0, TransportPacket.bodySize - 2))
        }
        return bytes
    }

    private func areTablesDue(at pts: Int64) -> Bool {
        guard let lastTables else { return true }
        let (elapsed, overflow) = pts.subtractingReportingOverflow(lastTables)
        return overflow || elapsed < 0 || elapsed >= Self.tableInterval
    }

    private mutating func appendTables(to bytes: inout [UInt8]) {
        TransportPacket.appendHeader(
            pid: ProgramTables.associationPID,
            startsUnit: true,
            content: .payload,
            continuity: associationContinuity,
            to: &bytes
        )
        bytes += tables.association
        TransportPacket.appendHeader(
            pid: ProgramTables.mapPID,
            startsUnit: true,
            content: .payload,
            continuity: mapContinuity,
            to: &bytes
        )
        bytes += tables.map
        associationContinuity = (associationContinuity + 1) & 0x0F
        mapContinuity = (mapContinuity + 1) & 0x0F
    }

    private mutating func appendVideoHeader(
        startsUnit: Bool,
        content: TransportPacket.Content,
        to bytes: inout [UInt8]
    ) {
        TransportPacket.appendHeader(
            pid: ProgramTables.videoPID,
            startsUnit: startsUnit,
            content: content,
            continuity: videoContinuity,
            to: &bytes
        )
        videoContinuity = (videoContinuity + 1) & 0x0F
    }

    /// A packet that continues a picture, filled up by its adaptation field.
    private mutating func appendVideoPacket(_ payload: ArraySlice<UInt8>, to bytes: inout [UInt8]) {
        let filling = TransportPacket.bodySize - payload.count
        appendVideoHeader(startsUnit: false, content: filling > 0 ? .both : .payload, to: &bytes)
        if filling > 0 { bytes.append(UInt8(clamping: filling - 1)) }
        // No flags. A field of one byte is its length alone.
        if filling > 1 { bytes.append(0) }
        bytes += repeatElement(TransportPacket.padding, count: max(0, filling - 2))
        bytes += payload
    }

    /// The header of the PES packet (2.4.3.6).
    ///
    /// Its length is told where 16 bits are enough, so that a player need not wait for the next picture to know this one whole.
    private static func appendElementaryHeader(size: Int, _ time: TransportTime, to bytes: inout [UInt8]) {
        bytes += [0, 0, 1, 0xE0]
        bytes.append(bigEndian: UInt16(exactly: size - 6) ?? 0)
        bytes += [0x84, 0x80, 5]  // data_alignment_indicator; PTS alone; five bytes of it
        time.appendPresentation(to: &bytes)
    }

    /// The header byte of the NAL unit that an Annex B stream begins with.
    private static func leadingHeader(of bytes: [UInt8]) -> UInt8? {
        var rest = bytes.drop { $0 == 0 }
        return bytes.count - rest.count >= 2 && rest.popFirst() == 1 ? rest.first : nil
    }
}

extension Codec {
    /// An access unit delimiter that allows slices of any kind (H.264 7.3.2.4, H.265 7.3.2.5), which transport streams ask for.
    fileprivate var delimiter: [UInt8] {
        switch self {
        case .h264: [0, 0, 0, 1, 0x09, 0xF0]
        case .h265: [0, 0, 0, 1, 0x46, 0x01, 0x50]
        }
    }
}
