package import Media

/// A muxer for an MPEG transport stream (ISO/IEC 13818-1) with one program. Each unit becomes whole packets.
/// docs/reference/formats.md lists its tables.
///
/// A player can start at any keyframe, because its packets begin with the program's tables.
package struct TransportStream: Sendable {
    /// An elementary stream of the program.
    private struct Stream {
        let track: MediaTrack
        let pid: UInt16
        var continuity: UInt8 = 0
    }

    /// The longest time between two copies of the tables, in µs of PTS, if there are pictures.
    private static let tableInterval: Int64 = 100_000
    /// The number of bytes of the adaptation field with a program clock, including its length byte.
    private static let clockFieldSize = 8
    private static let elementaryHeaderSize = 14

    private let tables: ProgramTables
    private var (associationContinuity, mapContinuity): (UInt8, UInt8) = (0, 0)
    private var streams: [Stream]
    private var lastTables: Int64?
    /// The time from the program clock to the presentation, at 90 kHz.
    private let delay: UInt64

    /// - Parameter tracks: The tracks. The first one's units carry the program's clock.
    package init(tracks: [MediaTrack]) {
        streams = zip(tracks, ProgramTables.firstPID...).map { Stream(track: $0, pid: $1) }
        tables = ProgramTables(streams: streams.map { ($0.track, $0.pid) })
        let hasAAC = tracks.contains { $0.soundCodec == .aac }
        delay = hasAAC ? TransportTime.longDelay : TransportTime.delay
    }

    package init(codec: Codec) { self.init(tracks: [.video(codec)]) }

    /// Packages the program's next unit. Units of one track must come in the order of their times.
    package mutating func muxed<Input: MediaBytes, Output: MediaBytes>(
        _ unit: EncodedUnit<Input>
    ) throws(PackagingError) -> Output {
        guard let place = streams.firstIndex(where: { $0.track.id == unit.header.track }),
            var stream = streams[at: place]
        else { throw .unknownTrack }
        let packets: Output =
            switch stream.track.coding {
            case .video(let codec): try picturePackets(unit, codec: codec, &stream)
            case .opus: try opusPackets(unit, &stream)
            case .aac(let parameters):
                soundPackets(
                    try ADTS.frame(unit.bytes, parameters) as Input,
                    after: [],
                    id: 0xC0,
                    pts: unit.pts,
                    &stream
                )
            }
        streams[at: place] = stream
        return packets
    }

    /// Packages the program's next unit as an array.
    package mutating func packets(_ unit: AccessUnit) throws(PackagingError) -> [UInt8] {
        try muxed(unit)
    }

    private mutating func picturePackets<Input: MediaBytes, Output: MediaBytes>(
        _ unit: EncodedUnit<Input>,
        codec: Codec,
        _ stream: inout Stream
    ) throws(PackagingError) -> Output {
        guard let header = unit.bytes.read({ AnnexB.firstUnit(in: $0)?[at: 0] }) else { throw .noPicture }
        let hasDelimiter = NALUnitKind(header: header, codec: codec) == .delimiter
        let delimiter = hasDelimiter ? [] : codec.delimiter
        let size = Self.elementaryHeaderSize + delimiter.count + unit.bytes.byteCount
        let firstRoom = TransportPacket.bodySize - Self.clockFieldSize
        let sendsTables = unit.isKey || areTablesDue(at: unit.pts)
        let count = 1 + Self.packetCount(of: size - firstRoom) + (sendsTables ? 2 : 0)
        let (counters, time) = (self, TransportTime(pts: unit.pts, delay: delay))
        if sendsTables {
            associationContinuity = Self.next(associationContinuity)
            mapContinuity = Self.next(mapContinuity)
            lastTables = unit.pts
        }
        return Output(byteCount: count * TransportPacket.size) { writer in
            if sendsTables { counters.writeTables(to: &writer) }
            unit.bytes.read { bytes in
                // The first packet has the clock, the headers, and as much of the picture as fits.
                let room = firstRoom - Self.elementaryHeaderSize - delimiter.count
                let first = min(room, bytes.count)
                let filling = room - first
                Self.writeHeader(of: &stream, startsUnit: true, content: .both, to: &writer)
                writer.put(UInt8(clamping: Self.clockFieldSize - 1 + filling))
                writer.put(0x10 | (unit.isKey ? 0x40 : 0))  // PCR_flag, random_access_indicator
                time.appendClock(to: &writer)
                writer.fill(TransportPacket.padding, count: filling)
                Self.writeElementaryHeader(stream: 0xE0, size: size, time, to: &writer)
                writer.put(delimiter)
                writer.put(bytes.part(from: 0, count: first))
                Self.writeRest(bytes, from: first, of: &stream, to: &writer)
            }
        }
    }

    /// Packages an Opus packet with its control header. The header follows ETSI's carriage of Opus, as FFmpeg and
    /// GStreamer read it.
    private func opusPackets<Input: MediaBytes, Output: MediaBytes>(
        _ unit: EncodedUnit<Input>,
        _ stream: inout Stream
    ) throws(PackagingError) -> Output {
        guard unit.bytes.read({ OpusPacket($0) }) != nil else { throw .noPacket }
        let control = Self.opusControlHeader(size: unit.bytes.byteCount)
        return soundPackets(unit.bytes, after: control, id: 0xBD, pts: unit.pts, &stream)
    }

    /// Packages sound as one PES packet.
    ///
    /// - Parameters:
    ///   - control: The bytes before it.
    ///   - id: `stream_id`.
    private func soundPackets<Input: MediaBytes, Output: MediaBytes>(
        _ bytes: Input,
        after control: [UInt8],
        id: UInt8,
        pts: Int64,
        _ stream: inout Stream
    ) -> Output {
        let size = Self.elementaryHeaderSize + control.count + bytes.byteCount
        let count = max(1, Self.packetCount(of: size))
        let time = TransportTime(pts: pts, delay: delay)
        return Output(byteCount: count * TransportPacket.size) { writer in
            bytes.read { bytes in
                let room = TransportPacket.bodySize - Self.elementaryHeaderSize - control.count
                let first = min(max(0, room), bytes.count)
                let filling = room - first
                Self.writeHeader(of: &stream, startsUnit: true, content: filling > 0 ? .both : .payload, to: &writer)
                Self.writeFilling(filling, to: &writer)
                Self.writeElementaryHeader(stream: id, size: size, time, to: &writer)
                writer.put(control)
                writer.put(bytes.part(from: 0, count: first))
                Self.writeRest(bytes, from: first, of: &stream, to: &writer)
            }
        }
    }

    /// Returns `opus_control_header` without trimming: its prefix of 11 bits, no flags, and the packet's size as bytes
    /// of 255 and a remainder.
    private static func opusControlHeader(size: Int) -> [UInt8] {
        [0x7F, 0xE0] + repeatElement(255, count: max(0, size / 255)) + [UInt8(clamping: size % 255)]
    }

    /// Returns how many packets a payload of `size` bytes fills.
    private static func packetCount(of size: Int) -> Int {
        (max(0, size) + TransportPacket.bodySize - 1) / TransportPacket.bodySize
    }

    private static func next(_ continuity: UInt8) -> UInt8 { (continuity &+ 1) & 0x0F }

    /// Returns packets that tell a player that it lost packets: one with the discontinuity indicator for each counter
    /// that continues in `packets`.
    ///
    /// - Parameter packets: The next packets, as returned by ``packets(_:)``. A keyframe's packets have all counters.
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
            // A packet without payload repeats the counter of the packet before it.
            let next = header[at: 3] ?? 0
            bytes += [UInt8](byteCount: TransportPacket.size) { writer in
                TransportPacket.appendHeader(
                    pid: pid,
                    startsUnit: false,
                    content: .adaptation,
                    continuity: (next &- 1) & 0x0F,
                    to: &writer
                )
                writer.put(UInt8(clamping: TransportPacket.bodySize - 1))
                writer.put(0x80)  // discontinuity_indicator
                writer.fill(TransportPacket.padding, count: TransportPacket.bodySize - 2)
            }
        }
        return bytes
    }

    private func areTablesDue(at pts: Int64) -> Bool {
        guard let lastTables else { return true }
        let (elapsed, overflow) = pts.subtractingReportingOverflow(lastTables)
        return overflow || elapsed < 0 || elapsed >= Self.tableInterval
    }

    private func writeTables(to writer: inout ByteWriter) {
        let packets = [
            (ProgramTables.associationPID, associationContinuity, tables.association),
            (ProgramTables.mapPID, mapContinuity, tables.map),
        ]
        for (pid, continuity, body) in packets {
            TransportPacket.appendHeader(
                pid: pid,
                startsUnit: true,
                content: .payload,
                continuity: continuity,
                to: &writer
            )
            writer.put(body)
        }
    }

    private static func writeHeader(
        of stream: inout Stream,
        startsUnit: Bool,
        content: TransportPacket.Content,
        to writer: inout ByteWriter
    ) {
        TransportPacket.appendHeader(
            pid: stream.pid,
            startsUnit: startsUnit,
            content: content,
            continuity: stream.continuity,
            to: &writer
        )
        stream.continuity = next(stream.continuity)
    }

    /// Writes the packets that continue a unit from `place` on. An adaptation field fills up the last one.
    private static func writeRest(
        _ bytes: ByteReader,
        from place: Int,
        of stream: inout Stream,
        to writer: inout ByteWriter
    ) {
        for start in stride(from: place, to: bytes.count, by: TransportPacket.bodySize) {
            let payload = bytes.part(from: start, count: TransportPacket.bodySize)
            let filling = TransportPacket.bodySize - payload.count
            writeHeader(of: &stream, startsUnit: false, content: filling > 0 ? .both : .payload, to: &writer)
            writeFilling(filling, to: &writer)
            writer.put(payload)
        }
    }

    /// Writes an adaptation field of this many bytes without flags. A field of one byte contains only its length.
    private static func writeFilling(_ count: Int, to writer: inout ByteWriter) {
        if count > 0 { writer.put(UInt8(clamping: count - 1)) }
        if count > 1 { writer.put(0) }
        writer.fill(TransportPacket.padding, count: count - 2)
    }

    /// Writes the header of the PES packet (2.4.3.6).
    ///
    /// It has the packet's length if 16 bits suffice. Then a player need not wait for the next unit to know that this
    /// one is complete.
    private static func writeElementaryHeader(
        stream: UInt8,
        size: Int,
        _ time: TransportTime,
        to writer: inout ByteWriter
    ) {
        writer.put([0, 0, 1, stream])
        writer.put(bigEndian: UInt16(exactly: size - 6) ?? 0)
        writer.put([0x84, 0x80, 5])  // data_alignment_indicator; PTS alone; five bytes of it
        time.appendPresentation(to: &writer)
    }
}

extension Codec {
    /// An access unit delimiter that allows slices of any kind (H.264 7.3.2.4, H.265 7.3.2.5). Transport streams
    /// require it.
    fileprivate var delimiter: [UInt8] {
        switch self {
        case .h264: [0, 0, 0, 1, 0x09, 0xF0]
        case .h265: [0, 0, 0, 1, 0x46, 0x01, 0x50]
        }
    }
}
