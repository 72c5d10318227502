package import Media

/// A muxer for fragmented MP4 (ISO/IEC 14496-12, 14496-15). The first track is video. docs/reference/formats.md lists
/// its boxes.
///
/// A player gets ``initialization`` as it was at a keyframe, then the fragments from that keyframe on.
package struct FragmentedMP4: Sendable {
    /// Where players find parameter sets.
    package enum ParameterSetPlace: Sendable {
        /// In the sample entry and in the keyframes (`avc3`, `hev1`). They may change during the stream.
        case inBand
        /// Only in the sample entry (`avc1`, `hvc1`). A changed set means another initialization segment.
        case sampleEntry
        /// In the sample entry (`avc1`, `hvc1`) and again in the keyframes, for players that read only the first
        /// initialization segment.
        case everywhere
    }

    /// One or more units: `moof` and `mdat`.
    package struct Fragment<Bytes: MediaBytes>: Sendable, Equatable {
        package let bytes: Bytes
        /// Whether this keyframe has changed ``FragmentedMP4/initialization``.
        package let changesInitialization: Bool
    }

    /// Units that will be one fragment.
    package struct Group<Bytes: MediaBytes>: Sendable {
        fileprivate var samples: [(Sample, Bytes)] = []

        package init() {}

        package var isEmpty: Bool { samples.isEmpty }
    }

    /// A unit as a sample of a fragment.
    fileprivate struct Sample: FragmentSample {
        let track: MediaTrack
        /// Times in the track's time scale.
        let (time, duration): (UInt64, UInt32)
        let size: UInt32
        let isSync: Bool
        /// A picture's NAL units, without start codes and trailing zeros; `nil` for a packet, which stays unchanged.
        let units: [Range<Int>]?

        var trackID: UInt32 { TrackDescription.id(of: track) }

        /// Writes the sample's bytes: NAL units after their lengths, or the packet.
        func write(_ bytes: ByteReader, to writer: inout ByteWriter) {
            guard let units else { return writer.put(bytes) }
            for range in units {
                writer.put(bigEndian: UInt32(clamping: range.count))
                writer.put(bytes[in: range])
            }
        }
    }

    /// One NAL unit in the bytes of an access unit, without start code and trailing zeros.
    private struct Unit {
        let range: Range<Int>
        let kind: NALUnitKind
    }

    /// The number of bytes of a NAL unit's length.
    private static let lengthSize = 4
    /// The number of bytes of a live fragment before its unit. It always has the same boxes with the same fields.
    package static let headSize = FragmentHead.sizeOfOne
    /// The offset of a live fragment's decode time: eight bytes, highest first.
    package static let decodeTimeOffset = FragmentHead.decodeTimeOffset

    /// The initialization segment of the last keyframe; `nil` before the first one.
    package private(set) var initialization: InitializationSegment?
    /// Pictures per second, 1 to 240.
    ///
    /// Each picture gets the duration 1/fps, because the real one is known only when the next picture comes. That
    /// picture's decode time then corrects it (ISO/IEC 14496-12, 8.8.12.1).
    package var fps: Int {
        didSet { precondition(fps > 0) }
    }
    private let tracks: [MediaTrack]
    private let place: ParameterSetPlace
    private let origin: Int64
    private let note: [UInt8]?
    private var sets = ParameterSetList()
    private var sequenceNumber: UInt32 = 0
    private var needsKeyframe = true

    /// - Parameters:
    ///   - tracks: One video track with the id 0, and any audio tracks.
    ///   - fps: As ``fps``.
    ///   - origin: The PTS that becomes time 0, in µs; not negative.
    package init(tracks: [MediaTrack], fps: Int, place: ParameterSetPlace = .inBand, origin: Int64 = 0) {
        self.init(tracks: tracks, fps: fps, place: place, origin: origin, note: nil)
    }

    package init(codec: Codec, fps: Int, place: ParameterSetPlace = .inBand, origin: Int64 = 0) {
        self.init(tracks: [.video(codec)], fps: fps, place: place, origin: origin)
    }

    /// - Parameter note: What a recording says of itself; `nil` for a live stream.
    init(tracks: [MediaTrack], fps: Int, place: ParameterSetPlace, origin: Int64, note: [UInt8]?) {
        precondition(fps > 0 && origin >= 0)
        self.note = note
        self.tracks = tracks
        self.place = place
        self.origin = origin
        self.fps = fps
    }

    /// Packages the next unit as a separate fragment, for live viewers.
    package mutating func muxed<Input: MediaBytes, Output: MediaBytes>(
        _ unit: EncodedUnit<Input>
    ) throws(PackagingError) -> Fragment<Output> {
        let (sample, changes) = try sample(of: unit)
        return Fragment(bytes: write([[sample]], [unit.bytes]), changesInitialization: changes)
    }

    /// Adds the session's next unit to a group, which later becomes one fragment.
    ///
    /// - Returns: Whether this keyframe has changed ``initialization``. Then it must be the first of its group.
    @discardableResult
    package mutating func add<Bytes: MediaBytes>(
        _ unit: EncodedUnit<Bytes>,
        to group: inout Group<Bytes>
    ) throws(PackagingError) -> Bool {
        let (sample, changes) = try sample(of: unit)
        group.samples.append((sample, unit.bytes))
        return changes
    }

    /// Packages a group as one fragment. The samples of each track are contiguous.
    package mutating func muxed<Input: MediaBytes, Output: MediaBytes>(_ group: Group<Input>) -> Output {
        let runs = tracks.map { track in group.samples.filter { $0.0.track == track } }.filter { !$0.isEmpty }
        return write(runs.map { Self.timed($0.map(\.0)) }, runs.joined().map(\.1))
    }

    /// Whether a unit is a keyframe whose parameter sets differ from those of the last one.
    package func changesParameterSets(_ unit: EncodedUnit<some MediaBytes>) -> Bool {
        guard initialization != nil, unit.isKey,
            case .video(let codec)? = tracks.first(where: { $0.id == unit.header.track })?.coding,
            let units = Self.units(of: unit.bytes, codec: codec)
        else { return false }
        return Self.parameterSets(units, of: unit.bytes) != sets
    }

    /// Packages the session's next access unit.
    package mutating func fragment(_ accessUnit: AccessUnit) throws(PackagingError) -> Fragment<[UInt8]> {
        try muxed(accessUnit)
    }

    /// Sets the duration of each sample except the last to the time until the next one.
    private static func timed(_ run: [Sample]) -> [Sample] {
        zip(run, run.dropFirst()).map { sample, next in
            Sample(
                track: sample.track,
                time: sample.time,
                duration: UInt32(clamping: next.time - min(next.time, sample.time)),
                size: sample.size,
                isSync: sample.isSync,
                units: sample.units
            )
        } + run.suffix(1)
    }

    // MARK: Samples

    private mutating func sample<Bytes: MediaBytes>(
        of unit: EncodedUnit<Bytes>
    ) throws(PackagingError) -> (Sample, changesInitialization: Bool) {
        guard let track = tracks.first(where: { $0.id == unit.header.track }) else { throw .unknownTrack }
        guard unit.pts >= origin else { throw .beforeOrigin }
        switch track.coding {
        case .video(let codec): return try picture(unit, track, codec)
        case .opus: return (try packet(unit, track, .opus), false)
        case .aac: return (try packet(unit, track, .aac), false)
        }
    }

    /// Returns the sample of an audio packet. It needs only the initialization segment, not a keyframe.
    private func packet<Bytes: MediaBytes>(
        _ unit: EncodedUnit<Bytes>,
        _ track: MediaTrack,
        _ codec: SoundCodec
    ) throws(PackagingError) -> Sample {
        guard initialization != nil else { throw .noKeyframe }
        guard let duration = unit.bytes.read({ codec.duration(of: $0) }) else { throw .noPacket }
        return Sample(
            track: track,
            time: track.ticks(of: unit.pts - origin),
            duration: duration,
            size: UInt32(clamping: unit.bytes.byteCount),
            isSync: true,
            units: nil
        )
    }

    private mutating func picture<Bytes: MediaBytes>(
        _ unit: EncodedUnit<Bytes>,
        _ track: MediaTrack,
        _ codec: Codec
    ) throws(PackagingError) -> (Sample, changesInitialization: Bool) {
        guard unit.isKey || !needsKeyframe else { throw .noKeyframe }
        guard var units = Self.units(of: unit.bytes, codec: codec) else {
            needsKeyframe = true
            throw .tooLarge
        }
        guard units.contains(where: { $0.kind == .slice }) else { throw .noPicture }
        needsKeyframe = true
        let changes = unit.isKey ? try takeParameterSets(units, of: unit.bytes, codec: codec) : false
        if place == .sampleEntry {
            guard unit.isKey || units.allSatisfy({ isKnown($0, of: unit.bytes) }) else { throw .lateParameterSet }
            units.removeAll { $0.kind.isParameterSet }
        }
        let size = units.reduce(0) { $0 + Self.lengthSize + $1.range.count }
        guard size <= FragmentHead.mostBytes else { throw .tooLarge }
        needsKeyframe = false
        let duration = (track.timescale + UInt32(clamping: fps) / 2) / UInt32(clamping: fps)
        let sample = Sample(
            track: track,
            time: track.ticks(of: unit.pts - origin),
            duration: duration,
            size: UInt32(clamping: size),
            isSync: unit.isKey,
            units: units.map(\.range)
        )
        return (sample, changes)
    }

    /// Returns the NAL units, or `nil` if there are more than ``AnnexB/maximumUnits``.
    private static func units(of bytes: some MediaBytes, codec: Codec) -> [Unit]? {
        var units: [Unit] = []
        for unit in AnnexB.Units(bytes) {
            let range = bytes.read { unit.unpaddedContents(in: $0) }
            guard let header = bytes.read({ $0[in: range][at: 0] }) else { continue }
            guard units.count < AnnexB.maximumUnits else { return nil }
            units.append(Unit(range: range, kind: NALUnitKind(header: header, codec: codec)))
        }
        return units
    }

    /// - Returns: Whether the initialization segment has changed.
    private mutating func takeParameterSets(
        _ units: [Unit],
        of bytes: some MediaBytes,
        codec: Codec
    ) throws(PackagingError) -> Bool {
        let found = Self.parameterSets(units, of: bytes)
        guard found != sets || initialization == nil else { return false }
        let entry = try VideoSampleEntry(found, codec: codec, place: place)
        initialization = InitializationSegment(entry, tracks: tracks, note: note)
        sets = found
        return true
    }

    private static func parameterSets(_ units: [Unit], of bytes: some MediaBytes) -> ParameterSetList {
        var found = ParameterSetList()
        for unit in units where unit.kind.isParameterSet {
            found.append(bytes.read { $0[in: unit.range].bytes }[...], kind: unit.kind)
        }
        return found
    }

    /// Returns whether the unit is in the sample entry or is not a parameter set.
    private func isKnown(_ unit: Unit, of bytes: some MediaBytes) -> Bool {
        !unit.kind.isParameterSet
            || sets.contains(bytes.read { $0[in: unit.range].bytes }[...], kind: unit.kind)
    }

    // MARK: Bytes

    /// - Parameters:
    ///   - runs: One for each track that has samples.
    ///   - units: The bytes of all samples' units, in order.
    private mutating func write<Input: MediaBytes, Output: MediaBytes>(
        _ runs: [[Sample]],
        _ units: [Input]
    ) -> Output {
        sequenceNumber &+= 1
        let head = FragmentHead.bytes(sequence: sequenceNumber, runs: runs)
        let size = runs.joined().reduce(0) { $0 + Int(clamping: $1.size) }
        return Output(byteCount: head.count + size) { writer in
            writer.put(head)
            var place = units.startIndex
            for sample in runs.joined() {
                units[at: place]?.read { sample.write($0, to: &writer) }
                place += 1
            }
        }
    }
}
