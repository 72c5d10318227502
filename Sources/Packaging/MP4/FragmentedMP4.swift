package import Media

/// Fragmented MP4 (ISO/IEC 14496-12, 14496-15) of one session: a fragment for each access unit. docs/formats.md lists its boxes.
///
/// A player gets ``initialization`` as it stood at a keyframe, and the fragments from that keyframe on.
package struct FragmentedMP4: Sendable {
    /// Where players find parameter sets.
    package enum ParameterSetPlace: Sendable {
        /// In the sample entry and in the keyframes (`avc3`, `hev1`): they may change under way.
        case inBand
        /// In the sample entry alone (`avc1`, `hvc1`): another set is another initialization segment.
        case sampleEntry
    }

    /// One access unit: `moof` and `mdat`.
    package struct Fragment: Sendable, Equatable {
        package let bytes: [UInt8]
        /// Whether ``FragmentedMP4/initialization`` is new with this keyframe.
        package let changesInitialization: Bool
    }

    /// One NAL unit in the bytes of an access unit, without start code and trailing zeros.
    private struct Unit {
        let range: Range<Int>
        let kind: NALUnitKind
    }

    /// What a fragment says of its picture.
    private struct Head {
        let time: UInt64
        let size: UInt32
        let isKey: Bool
    }

    /// Units of decode times and durations a second: those of ``AccessUnit/pts``, which thus stays exact.
    static let timescale: UInt32 = 1_000_000
    /// Bytes of a NAL unit's length.
    private static let lengthSize = 4
    /// Bytes of `moof`, which always has the same boxes with the same fields, and of the header of `mdat`.
    private static let (movieFragmentSize, dataHeaderSize) = (100, 8)
    /// Bytes of a fragment before its picture.
    package static let headSize = movieFragmentSize + dataHeaderSize
    /// Where a fragment has its decode time, of eight bytes, highest first.
    package static let decodeTimeOffset = 60
    /// Where a fragment has its picture's duration, of four bytes.
    static let durationOffset = 88

    /// The initialization segment of the last keyframe, nil before the first.
    package private(set) var initialization: InitializationSegment?
    /// Pictures a second, 1 to 240: each picture is given the duration 1/fps, since the real one is known only when the next picture comes;
    /// that one's decode time then corrects it (ISO/IEC 14496-12, 8.8.12.1).
    package var fps: Int {
        didSet { precondition(fps > 0) }
    }
    private let codec: Codec
    private let place: ParameterSetPlace
    private let origin: Int64
    private let reservesDuration: Bool
    private var sets = ParameterSetList()
    private var sequenceNumber: UInt32 = 0
    private var needsKeyframe = true

    /// - Parameters:
    ///   - fps: As ``fps``.
    ///   - origin: The PTS that becomes time 0, in µs, not negative.
    package init(codec: Codec, fps: Int, place: ParameterSetPlace = .inBand, origin: Int64 = 0) {
        self.init(codec: codec, fps: fps, place: place, origin: origin, reservesDuration: false)
    }

    init(codec: Codec, fps: Int, place: ParameterSetPlace, origin: Int64, reservesDuration: Bool) {
        precondition(fps > 0 && origin >= 0)
        self.reservesDuration = reservesDuration
        self.codec = codec
        self.place = place
        self.origin = origin
        self.fps = fps
    }

    /// Packages the session's next access unit.
    package mutating func fragment(_ accessUnit: AccessUnit) throws(PackagingError) -> Fragment {
        try fragment(accessUnit.bytes, pts: accessUnit.pts, isKey: accessUnit.isKey)
    }

    /// Packages the session's next access unit, of which these are the Annex B bytes, the PTS in µs, and whether it is a keyframe.
    package mutating func fragment(_ picture: [UInt8], pts: Int64, isKey: Bool) throws(PackagingError) -> Fragment {
        guard pts >= origin else { throw .beforeOrigin }
        guard isKey || !needsKeyframe else { throw .noKeyframe }
        guard var units = self.units(of: picture) else {
            needsKeyframe = true
            throw .tooLarge
        }
        guard units.contains(where: { $0.kind == .slice }) else { throw .noPicture }
        needsKeyframe = true
        let changes = isKey ? try takeParameterSets(units, of: picture) : false
        if place == .sampleEntry {
            guard isKey || units.allSatisfy({ isKnown($0, of: picture) }) else { throw .lateParameterSet }
            units.removeAll { $0.kind.isParameterSet }
        }
        let size = units.reduce(0) { $0 + Self.lengthSize + $1.range.count }
        guard size <= Int(UInt32.max) - Self.dataHeaderSize else { throw .tooLarge }
        needsKeyframe = false
        let head = Head(time: UInt64(clamping: pts - origin), size: UInt32(clamping: size), isKey: isKey)
        return Fragment(bytes: write(head, units, of: picture), changesInitialization: changes)
    }

    /// Nil if there are more than ``AnnexB/maximumUnits``.
    private func units(of bytes: [UInt8]) -> [Unit]? {
        var units: [Unit] = []
        for unit in AnnexB.Units(bytes) {
            // trailing_zero_8bits belong to the byte stream, not to the unit, which never ends in zero.
            let padded = bytes[in: unit.contents]
            let contents = padded.dropLast(padded.reversed().prefix { $0 == 0 }.count)
            guard let header = contents.first else { continue }
            guard units.count < AnnexB.maximumUnits else { return nil }
            units.append(Unit(range: contents.indices, kind: NALUnitKind(header: header, codec: codec)))
        }
        return units
    }

    /// - Returns: Whether the initialization segment is another now.
    private mutating func takeParameterSets(_ units: [Unit], of bytes: [UInt8]) throws(PackagingError) -> Bool {
        var found = ParameterSetList()
        for unit in units { found.append(bytes[in: unit.range], kind: unit.kind) }
        guard found != sets || initialization == nil else { return false }
        let entry = try SampleEntry(found, codec: codec, place: place)
        initialization = InitializationSegment(entry, reservesDuration: reservesDuration)
        sets = found
        return true
    }

    /// Whether the unit is no parameter set, or one of those in the sample entry.
    private func isKnown(_ unit: Unit, of bytes: [UInt8]) -> Bool {
        !unit.kind.isParameterSet || sets.contains(bytes[in: unit.range], kind: unit.kind)
    }

    private mutating func write(_ head: Head, _ units: [Unit], of picture: [UInt8]) -> [UInt8] {
        sequenceNumber &+= 1
        let duration = (Self.timescale + UInt32(clamping: fps) / 2) / UInt32(clamping: fps)
        var writer = BoxWriter(capacity: Self.headSize + Int(clamping: head.size))
        writer.box("moof") { fragment in
            fragment.fullBox("mfhd") { $0.put(sequenceNumber) }
            fragment.box("traf") { track in
                // Flag: default-base-is-moof.
                track.fullBox("tfhd", flags: 0x02_0000) { $0.put(InitializationSegment.trackID) }
                track.fullBox("tfdt", version: 1) { $0.put(head.time) }
                // Flags: data offset, then duration, size and flags of each sample.
                track.fullBox("trun", flags: 0x701) { run in
                    run.put(UInt32(1))
                    run.put(UInt32(clamping: Self.headSize))
                    run.put(duration)
                    run.put(head.size)
                    run.put(Self.sampleFlags(isKey: head.isKey))
                }
            }
        }
        writer.box("mdat") { data in
            for unit in units {
                data.put(UInt32(clamping: unit.range.count))
                data.put(picture[in: unit.range])
            }
        }
        return writer.bytes
    }

    /// `sample_depends_on` (2: on no other, 1: on others) and `sample_is_non_sync_sample` (8.8.3.1).
    private static func sampleFlags(isKey: Bool) -> UInt32 {
        isKey ? 2 << 24 : 1 << 24 | 1 << 16
    }
}
