import Media

extension MovieIndex {
    /// The most tracks of a recording.
    private static let mostTracks = 16
    /// The latest time of a sample, in any time scale: far below the value at which times overflow.
    private static let latest: UInt64 = 1 << 62

    /// Reads `moov`: of an initialization segment, or of a complete movie with all its samples.
    ///
    /// It reads what this package writes. Returns `nil` for anything else.
    init?(movie: ByteReader) {
        tracks = []
        var rest = movie
        while let box = rest.nextBox() {
            switch box.type {
            case .movieTrack:
                guard tracks.count < Self.mostTracks, let track = Track(box.payload) else { return nil }
                tracks.append(track)
            case .note:
                guard let note = Self.note(box.payload) else { continue }
                notes.append(note)
            default: continue
            }
        }
        guard tracks.first?.description.kind == .video, let header = movie.box(.movieHeader) else { return nil }
        if let extended = movie.box(at: .movieExtends, .movieExtendsHeader) {
            guard let duration = extended.duration(after: 0) else { return nil }
            end = duration
        } else {
            guard let duration = header.duration(after: 4) else { return nil }
            end = duration
        }
        end = min(end, Self.latest)
    }

    /// Reads the beginning of a recording up to its first fragment.
    init?(beginning: [UInt8]) {
        let index = beginning.read { $0.box(.movie).flatMap { MovieIndex(movie: $0) } }
        guard let index else { return nil }
        self = index
    }

    /// Adds the samples of a fragment that has just been made.
    ///
    /// - Parameter offset: Its offset in the file.
    mutating func take(made fragment: [UInt8], at offset: UInt64) {
        fragment.read { fragment in
            var rest = fragment
            guard let head = rest.nextBox() else { return }
            let data = offset &+ UInt64(clamping: fragment.count &- rest.count &+ ByteReader.boxHeader)
            _ = take(head.payload, at: offset, data: Range(from: data, to: offset &+ UInt64(clamping: fragment.count)))
        }
    }

    /// Whether all samples are in the file's first bytes.
    func lies(before end: UInt64) -> Bool {
        tracks.allSatisfy { track in
            track.samples.places(of: 0..<track.samples.count).allSatisfy {
                $0.offset <= end && $0.length <= end &- $0.offset
            }
        }
    }

    /// Returns a note of the recorder; `nil` if the box is of another kind.
    static func note(_ payload: ByteReader) -> [UInt8]? {
        var rest = payload
        guard let type = rest.take(MovieNote.type.count), type.bytes == MovieNote.type else { return nil }
        return rest.bytes
    }

    /// Adds the samples of a fragment.
    ///
    /// - Parameters:
    ///   - fragment: The payload of `moof`.
    ///   - offset: The offset of `moof` in the file.
    ///   - data: The offsets that `mdat` has in the file, without its header.
    /// - Returns: Whether the fragment is one that continues the recording. If not, the index is unchanged.
    mutating func take(_ fragment: ByteReader, at offset: UInt64, data: Range<UInt64>) -> Bool {
        var (rest, runs) = (fragment, [Run]())
        while let box = rest.nextBox() {
            guard box.type == .track else { continue }
            // Each track has one run in a fragment.
            guard let run = run(box.payload, at: offset, data: data), !runs.contains(where: { $0.track == run.track })
            else { return false }
            runs.append(run)
        }
        for run in runs {
            tracks.update(at: run.track) { track in
                track.samples.beginChunk(at: run.offset)
                for sample in run.samples {
                    track.samples.append(time: sample.time, size: sample.size, isSync: sample.isSync)
                }
            }
        }
        return !runs.isEmpty
    }

    /// The samples of one track in a fragment.
    private struct Run {
        /// The track's place in the index.
        let track: Int
        let offset: UInt64
        var samples: [(time: UInt64, size: UInt32, isSync: Bool)] = []
    }

    /// Reads `traf`.
    private func run(_ payload: ByteReader, at offset: UInt64, data: Range<UInt64>) -> Run? {
        guard var header = payload.box(.trackHeader), header.skip(4), let id = header.u32(),
            let place = tracks.firstIndex(where: { $0.description.id == id }),
            let count = tracks[at: place]?.samples.count, count < SampleTable.mostSamples,
            // Version and flags, then 8 bytes of decode time.
            var decodeTime = payload.box(.decodeTime), decodeTime.u32() == 0x0100_0000, var time = decodeTime.u64(),
            // Flags as the muxer writes them, the number of samples, and the offset of their data.
            var entries = payload.box(.run), entries.u32() == 0x701, let total = entries.u32(),
            let distance = entries.u32(), total > 0, Int(clamping: total) == entries.count / 12
        else { return nil }
        var end = offset &+ UInt64(clamping: distance)
        var run = Run(track: place, offset: end)
        var last = tracks[at: place]?.samples.times.last
        while let duration = entries.u32(), let size = entries.u32(), let flags = entries.u32() {
            guard time <= Self.latest, last.map({ $0 < time }) ?? true, data.lowerBound <= end,
                end <= data.upperBound, UInt64(clamping: size) <= data.upperBound &- end
            else { return nil }
            run.samples.append((time, size, flags & 1 << 16 == 0))
            last = time
            (time, end) = (time &+ UInt64(clamping: duration), end &+ UInt64(clamping: size))
        }
        return run
    }
}

extension MovieIndex.Track {
    /// Reads `trak`.
    fileprivate init?(_ payload: ByteReader) {
        guard let description = TrackDescription(payload),
            let table = payload.box(at: .media, .information, .table),
            let samples = SampleTable(table, start: Self.start(payload, timescale: description.timescale))
        else { return nil }
        (self.description, self.samples) = (description, samples)
    }

    /// Returns when the first sample is due, in the track's time scale: the delay in its edit list.
    private static func start(_ payload: ByteReader, timescale: UInt32) -> UInt64 {
        guard var list = payload.box(at: .edits, .editList), list.u32() == 0x0100_0000, list.u32() == 2,
            let delay = list.u64(), list.u64() == .max
        else { return 0 }
        return MovieHeader.ticks(min(delay, 1 << 50), of: timescale)
    }
}

extension TrackDescription {
    /// Reads `trak`, of pictures or sound. Of several sample entries, it takes the first one.
    init?(_ payload: ByteReader) {
        guard var header = payload.box(.movieTrackHeader), let version = header.u8(),
            header.skip(version == 1 ? 19 : 11), let id = header.u32(), id > 0,
            let media = payload.box(.media), let timescale = media.box(.mediaHeader)?.timescale,
            var handler = media.box(.handler), handler.skip(8), let kind = handler.u32().flatMap(Self.kind),
            var descriptions = media.box(at: .information, .table, .descriptions),
            descriptions.skip(4), descriptions.u32() ?? 0 > 0
        else { return nil }
        let entries = descriptions
        guard descriptions.nextBox() != nil,
            // The size is at the end: reserved, layer and so on, matrix; then width and height.
            header.skip(header.count &- 8), let width = header.u32(), let height = header.u32()
        else { return nil }
        let entry = entries.part(from: 0, count: entries.count &- descriptions.count)
        self.init(id: id, kind: kind, timescale: timescale, width: width, height: height, sampleEntry: entry.bytes)
    }

    private static func kind(_ handler: UInt32) -> MediaTrack.Kind? {
        switch handler {
        case 0x7669_6465: .video  // vide
        case 0x736F_756E: .audio  // soun
        default: nil
        }
    }
}

extension SampleTable {
    /// Reads the boxes of `stbl`.
    ///
    /// - Parameter start: The time of the first sample.
    fileprivate init?(_ table: ByteReader, start: UInt64) {
        guard var sizes = table.box(.sizes), sizes.skip(4), sizes.u32() == 0, let total = sizes.u32(),
            Int(clamping: total) == sizes.count / 4, total <= Self.mostSamples
        else { return nil }
        guard total > 0 else { return }
        guard var durations = table.box(.durations), durations.skip(8),
            var runs = table.box(.chunkRuns), runs.skip(8),
            var offsets = table.box(.chunks), offsets.skip(8)
        else { return nil }
        var (time, left): (UInt64, (count: UInt32, duration: UInt32)) = (start, (0, 0))
        // Without stss, every sample is a sync sample.
        var syncs = table.box(.syncs)
        syncs?.skip(8)
        var nextSync = syncs?.u32()
        var chunkSize: UInt32 = 0
        var (chunkLeft, chunkNumber): (UInt32, UInt32) = (0, 0)
        var nextRun = runs.u32()
        for number in stride(from: 1, through: total, by: 1) {
            if left.count == 0 {
                guard let count = durations.u32(), count > 0, let duration = durations.u32() else { return nil }
                left = (count, duration)
            }
            if chunkLeft == 0 {
                chunkNumber &+= 1
                if chunkNumber == nextRun {
                    guard let count = runs.u32(), count > 0, runs.skip(4) else { return nil }
                    chunkSize = count
                    nextRun = runs.u32()
                }
                guard chunkSize > 0, let offset = offsets.u64(), offset < 1 << 62 else { return nil }
                chunkLeft = chunkSize
                beginChunk(at: offset)
            }
            guard let size = sizes.u32() else { return nil }
            let isSync = syncs == nil || nextSync == number
            if nextSync == number { nextSync = syncs?.u32() }
            append(time: time, size: size, isSync: isSync)
            time &+= UInt64(clamping: left.duration)
            (left.count, chunkLeft) = (left.count &- 1, chunkLeft &- 1)
        }
        guard chunkLeft == 0 else { return nil }
    }
}

extension ByteReader {
    /// The time units per second that `mvhd` or `mdhd` gives; `nil` if there are none.
    var timescale: UInt32? {
        var rest = self
        guard rest.skip(rest[at: 0] == 1 ? 20 : 12), let scale = rest.u32(), scale > 0 else { return nil }
        return scale
    }

    /// Reads the duration of a header whose times have 32 bits in version 0 and 64 in version 1.
    ///
    /// - Parameter fields: The number of bytes between two dates, which `mvhd` and `mdhd` have, and the duration; 0 for
    ///   `mehd`, which has neither.
    func duration(after fields: Int) -> UInt64? {
        var rest = self
        guard let version = rest.u8(), rest.skip(3) else { return nil }
        let dates = fields == 0 ? 0 : version == 1 ? 16 : 8
        guard rest.skip(dates &+ fields) else { return nil }
        return version == 1 ? rest.u64() : rest.u32().map(UInt64.init)
    }
}
