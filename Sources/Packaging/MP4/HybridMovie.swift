package import Media

/// A recording in MP4 that plays at any time, and becomes a plain movie with an index without moving a byte.
///
/// While it grows, it is a fragmented MP4:
///
///     ftyp, free (16 bytes), ftyp, moov, then for each fragment moof, mdat, skip (the checksum of the two)
///
/// ``ending(at:)`` appends another `moov` with all samples, and turns the 16 bytes into the header of an `mdat` around
/// everything before it. After a crash between the two steps the file plays as before.
///
/// Its time 0 is its first keyframe.
///
///     var movie = HybridMovie<[UInt8]>(tracks: [.video(.h264)], fps: 30)
///     // For each unit:
///     if movie.isFragmentDue(at: unit.pts) { file.append(movie.takeBytes()) }
///     try movie.append(unit)
///     // At the end:
///     file.append(movie.takeBytes())
///     for step in movie.ending(at: end) { file.write(step); file.synchronize() }
package struct HybridMovie<Bytes: MediaBytes>: Sendable {
    /// When a fragment is complete, in µs and in bytes.
    private static var fragmentSpan: Int64 { 1_000_000 }
    /// The PTS that no recording reaches, in µs: sums of times beyond it could overflow.
    private static var latest: Int64 { 1 << 60 }
    private static var fragmentSize: Int { 4 << 20 }

    private var packager: FragmentedMP4?
    /// The tracks, the first one is video. Others may be added until the first keyframe.
    package var tracks: [MediaTrack]
    private let fps: Int
    private let place: FragmentedMP4.ParameterSetPlace
    private let note: [UInt8]
    private var origin: Int64 = 0
    /// The PTS of each track's last unit.
    private var lastTimes: [MediaTrack.ID: Int64] = [:]

    /// The fragment that is being made, its first PTS and the number of its bytes.
    private var group = FragmentedMP4.Group<Bytes>()
    private var (groupStart, groupSize): (Int64?, Int) = (nil, 0)
    /// Notes that precede the next fragment.
    private var notes: [[UInt8]] = []
    /// The tracks and samples so far; `nil` before the first fragment.
    package private(set) var index: MovieIndex?
    /// The number of bytes so far.
    package private(set) var size: UInt64 = 0
    /// Where ``duration(at:)`` goes.
    private var reserve: UInt64 = 0

    /// - Parameters:
    ///   - tracks: One video track with the id 0, and any audio tracks.
    ///   - fps: Pictures per second, 1 to 240.
    ///   - place: With `sampleEntry`, every player can play the file, but parameter sets cannot change.
    ///   - note: What the file says of itself; see ``MovieIndex/notes``.
    package init(
        tracks: [MediaTrack],
        fps: Int,
        place: FragmentedMP4.ParameterSetPlace = .inBand,
        note: [UInt8] = []
    ) {
        self.tracks = tracks
        self.fps = fps
        self.place = place
        self.note = note
    }

    /// Whether ``append(_:)`` has taken a keyframe.
    package var hasBegun: Bool { packager != nil }

    /// Whether units wait to become a fragment.
    package var hasUnits: Bool { !group.isEmpty }

    /// Whether a keyframe has parameter sets that this file cannot take.
    package func needsAnotherFile(for unit: EncodedUnit<Bytes>) -> Bool {
        place == .sampleEntry && packager?.changesParameterSets(unit) == true
    }

    /// Takes the session's next unit. Sound before the first keyframe is left out.
    ///
    /// - Throws: The same errors as ``FragmentedMP4/fragment(_:)``.
    package mutating func append(_ unit: EncodedUnit<Bytes>) throws(PackagingError) {
        guard unit.header.track == MediaTrack.videoID || hasBegun && unit.pts >= origin else { return }
        var packager =
            packager
            ?? FragmentedMP4(tracks: tracks, fps: fps, place: place, origin: max(0, unit.pts), note: note)
        guard lastTimes[unit.header.track].map({ $0 < unit.pts }) ?? true, unit.pts < Self.latest else {
            throw .beforeOrigin
        }
        try packager.add(unit, to: &group)
        lastTimes[unit.header.track] = unit.pts
        if self.packager == nil { origin = unit.pts }
        self.packager = packager
        groupStart = groupStart ?? unit.pts
        groupSize += unit.bytes.byteCount
    }

    /// Notes something at this place of the file.
    package mutating func append(note: [UInt8]) { notes.append(note) }

    /// Whether a fragment is complete with what comes at `pts`.
    package func isFragmentDue(at pts: Int64) -> Bool {
        guard let groupStart else { return false }
        return pts &- groupStart >= Self.fragmentSpan || groupSize >= Self.fragmentSize
    }

    /// Returns the bytes to append to the file: the fragment of the units since the last call, after the file's
    /// beginning if it is the first one. Empty without units.
    package mutating func takeBytes() -> [UInt8] {
        guard !group.isEmpty, var packager, let initialization = packager.initialization else { return [] }
        var bytes: [UInt8] = []
        if index == nil {
            bytes = Self.head + initialization.bytes
            let extends = InitializationSegment.extendsSize * tracks.count + InitializationSegment.reserveSize
            reserve = UInt64(clamping: bytes.count - extends)
            index = MovieIndex(beginning: bytes)
        }
        index?.notes += notes
        bytes += notes.flatMap(MovieNote.bytes)
        let fragment: [UInt8] = packager.muxed(group)
        index?.take(made: fragment, at: size + UInt64(bytes.count))
        bytes += fragment + FragmentChecksum.box(fragment)
        size += UInt64(bytes.count)
        self.packager = packager
        (group, groupStart, groupSize, notes) = (.init(), nil, 0, [])
        return bytes
    }

    /// Returns what tells players and repair that the last picture lasts until `end`, also in a file that breaks off.
    ///
    /// - Parameter end: A PTS, in µs.
    /// - Returns: `nil` before the first fragment.
    package func duration(at end: Int64) -> FileWrite? {
        guard index != nil else { return nil }
        var header = BoxWriter()
        header.fullBox("mehd", version: 1) { $0.put(duration(until: end)) }
        return FileWrite(offset: reserve, bytes: header.bytes)
    }

    /// Ends the recording. Call ``takeBytes()`` before. Nothing may be appended afterwards.
    ///
    /// - Parameter end: The PTS at which the last picture ends, in µs. The picture lasts at least 1 µs.
    /// - Returns: The writes that complete the file. The file must be synchronized after each of them. Empty if nothing
    ///   was recorded.
    package mutating func ending(at end: Int64) -> [FileWrite] { contents(endingAt: end)?.ending(at: size) ?? [] }

    /// Returns the tracks and samples of the whole recording, whose last picture ends at a PTS in µs; `nil` if nothing
    /// was recorded.
    package mutating func contents(endingAt end: Int64) -> MovieIndex? {
        let duration = duration(until: end)
        index?.end = duration
        return index
    }

    private func duration(until end: Int64) -> UInt64 {
        let (sinceOrigin, overflow) = end.subtractingReportingOverflow(origin)
        return max(overflow ? 0 : UInt64(clamping: sinceOrigin), (index?.lastTime ?? 0) + 1)
    }

    /// `ftyp` and `free`.
    private static var head: [UInt8] {
        var writer = BoxWriter()
        writer.fileType()
        writer.box("free") { $0.zeros(8) }
        return writer.bytes
    }
}

/// Bytes to write to a file.
package struct FileWrite: Sendable, Equatable {
    package let offset: UInt64
    package let bytes: [UInt8]

    package init(offset: UInt64, bytes: [UInt8]) { (self.offset, self.bytes) = (offset, bytes) }
}

extension MovieIndex {
    /// The number of bytes before `free`: those of `ftyp`.
    static let freeOffset: UInt64 = 24
    /// The number of bytes of `free`, and of the header of an `mdat` with 64-bit size.
    static let freeSize: UInt64 = 16

    /// Returns the writes that make a complete movie of a recording, in order. The file must be synchronized after each
    /// of them.
    ///
    /// - Parameter size: The number of bytes of the recording so far.
    package func ending(at size: UInt64) -> [FileWrite] {
        var header = BoxWriter()
        header.put(UInt32(1))  // The size has 64 bits.
        header.put("mdat")
        header.put(size - Self.freeOffset)
        return [FileWrite(offset: size, bytes: movie()), FileWrite(offset: Self.freeOffset, bytes: header.bytes)]
    }
}

/// The checksum after each fragment, by which repair knows that the fragment is whole.
enum FragmentChecksum {
    static let boxSize: UInt64 = 12

    /// Returns a `skip` box with the CRC-32 of `moof` and `mdat`.
    static func box(_ fragment: [UInt8]) -> [UInt8] {
        var writer = BoxWriter()
        writer.box("skip") { $0.put(CRC32.checksum(fragment, initial: .max)) }
        return writer.bytes
    }
}
