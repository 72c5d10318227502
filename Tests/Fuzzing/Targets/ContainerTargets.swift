import Media
import Packaging

extension FuzzTarget {
    /// Access units on their way into containers.
    static let packaging = FuzzTarget("packaging", words: ["\u{0}\u{0}\u{1}", "\u{0}\u{0}\u{0}\u{1}"]) { input in
        var choices = Choices(input)
        let head = choices.byte()
        let codec: Codec = head & 1 == 0 ? .h264 : .h265
        let fps = max(1, Int(choices.byte()))
        var inBand = FragmentedMP4(codec: codec, fps: fps)
        var inEntry = FragmentedMP4(codec: codec, fps: fps, place: .sampleEntry)
        var recording = HybridMovie<[UInt8]>(tracks: [.video(codec)], fps: fps)
        var (recorded, clock): ([UInt8], RecordingClock) = ([], RecordingClock())
        var transport = TransportStream(codec: codec)
        var reader = FragmentReader()
        while !choices.isEmpty {
            let flags = choices.byte()
            // Near 0, and near the end of the range of times.
            let pts = [0, .max - 0xFFFF, .min, 1 << 62 - 0xFFFF][Int(flags >> 6)] + Int64(choices.short())
            let unit = AccessUnit(
                pts: pts,
                captured: 0,
                encodeStart: 0,
                encodeEnd: 0,
                flags: flags & 1 == 0 ? [] : .key,
                size: PictureSize(width: 2, height: 2),
                bytes: choices.piece()
            )
            if let fragment = try refusable({ try inBand.fragment(unit) }) {
                // No later than it reads.
                guard let read = try refusable({ try reader.append(fragment.bytes) }) else { return }
                try require(read.count == 1 && reader.isWhole, "\(read.count) access units in a fragment")
                try require(read[0].pts == pts && read[0].flags == unit.flags, "\(read[0].pts) for \(pts)")
                try require(read[0].bytes == lengthened(unit.bytes), "another picture")
                // As `heliograph watch` records.
                clock.take(pts: read[0].pts, now: Int64(choices.short()))
                if recording.isFragmentDue(at: pts) { recorded += recording.takeBytes() }
                _ = try refusable { try recording.append(read[0]) }
            }
            _ = try refusable { try inEntry.fragment(unit) }
            if let packets = try refusable({ try transport.packets(unit) }) {
                let isWhole = stride(from: 0, to: packets.count, by: 188).allSatisfy { packets[$0] == 0x47 }
                try require(packets.count.isMultiple(of: 188) && isWhole, "\(packets.count) bytes of packets")
                try checkDiscontinuity(before: packets)
            }
            try checkDiscontinuity(before: unit.bytes)
        }
        recorded += recording.takeBytes()
        let steps = recording.ending(at: clock.end(now: Int64(head) << 8))
        guard !steps.isEmpty else { return }
        let broken = try scan(recorded)
        for step in steps {
            try require(step.offset <= UInt64(recorded.count), "a step at \(step.offset)")
            recorded =
                recorded.prefix(Int(step.offset)) + step.bytes + recorded.dropFirst(Int(step.offset) + step.bytes.count)
        }
        let complete = try scan(recorded)
        try require(complete.isComplete && !broken.isComplete && complete.size == broken.size, "another recording")
        let tables = [broken, complete].map { $0.index.video?.samples.sizes }
        try require(tables[0] == tables[1], "other samples")
    }

    private static func scan(_ file: [UInt8]) throws -> RecordingScan {
        try RecordingScan(size: UInt64(file.count)) { offset, count in
            Array(file.dropFirst(Int(clamping: offset)).prefix(count))
        }
    }

    /// The file of a recording, damaged anywhere, as repair, import and clips read it.
    static let recordings = FuzzTarget(
        "recordings",
        words: [
            "moof", "mdat", "traf", "tfdt", "trun", "free", "moov", "trak", "stts", "stsc", "stsz", "co64", "skip",
            "uuid",
        ]
    ) { input in
        guard let scan = try refusable({ try scan(input) }) else { return }
        try require(scan.size <= UInt64(input.count), "\(scan.size) of \(input.count) bytes")
        let steps = scan.index.ending(at: scan.size)
        try require(steps.count == 2 && steps[0].bytes.count < 64 * input.count + 4096, "a long index")
        let sources = [0, 1].map { MovieClip.Source(index: scan.index, start: $0 * scan.index.end) }
        let middle = scan.index.end / 2
        guard let clip = try refusable({ try MovieClip(sources, middle..<max(middle, scan.index.end)) }) else { return }
        for piece in clip.pieces {
            let end = piece.piece.offset.addingReportingOverflow(piece.piece.length)
            try require(!end.overflow && end.partialValue <= scan.size, "a piece beyond the file")
        }
        try checkSegments(of: scan)
    }

    /// An MP3 file, as imports and HLS read it.
    static let music = FuzzTarget(
        "music",
        words: ["ID3", "TIT2", "APIC", "TT2", "PIC", "TAG", "APETAGEX", "Xing", "VBRI"]
    ) {
        input in
        let read: MP3Scan.Read = { Array(input.dropFirst(Int(clamping: $0)).prefix($1)) }
        guard let scan = try refusable({ try MP3Scan(size: UInt64(input.count), read: read) }) else { return }
        var end: UInt64 = 0
        for (offset, size) in zip(scan.offsets, scan.sizes) {
            try require(offset >= end, "frames overlap")
            end = offset + UInt64(size)
        }
        try require(end <= UInt64(input.count), "a frame beyond the file")
        let segments = MP3Segments(scan).segments
        try require(segments.reduce(0) { $0 + $1.frames } == scan.offsets.count, "segments have other frames")
        try require((scan.tags.cover?.count ?? 0) <= input.count, "a large cover")
    }

    /// An MP4 file of another program, as imports read it.
    static let movies = FuzzTarget(
        "movies",
        words: [
            "ftyp", "moov", "mvhd", "mvex", "mehd", "trak", "tkhd", "mdia", "mdhd", "hdlr", "vide", "soun", "stsd",
            "avc1",
            "avcC", "hvcC", "mp4a", "esds", "stsz", "stss", "udta", "meta", "ilst", "covr", "trkn", "data",
        ]
    ) { input in
        let read: RecordingScan.Read = { Array(input.dropFirst(Int(clamping: $0)).prefix($1)) }
        guard let movie = try refusable({ try MovieSummary(size: UInt64(input.count), read: read) }) else { return }
        try require(movie.duration > 0 && movie.fps.isFinite && movie.fps >= 0, "\(movie.duration), \(movie.fps)")
        try require((movie.tags.cover?.count ?? 0) <= input.count, "a large cover")
        for track in movie.tracks { try require(track.codec.utf8.count <= 64, "\(track.codec)") }
    }

    /// Segments of HLS are never beyond the file, and not long.
    private static func checkSegments(of scan: RecordingScan) throws {
        let segments = MovieSegments(of: scan.index, isComplete: scan.isComplete)
        for number in [0, segments.count / 2, segments.count - 1] {
            guard let range = segments.range(of: number), let video = scan.index.video else { continue }
            let made = [
                MovieSegment(video: video, range, number: 1, offset: scan.index.end),
                MovieSegment(sound: scan.index.tracks.last, in: .opus, range, number: 1, offset: scan.index.end),
                MovieSegment(sound: scan.index.tracks.last, in: .aac, range, number: 1, offset: scan.index.end),
            ]
            for piece in made.compactMap(\.self).flatMap(\.pieces) {
                guard case .file(let place) = piece else { continue }
                let end = place.offset.addingReportingOverflow(place.length)
                try require(!end.overflow && end.partialValue <= scan.size, "a piece of a segment beyond the file")
            }
        }
    }

    /// Packets of any picture may follow those that a viewer lost.
    private static func checkDiscontinuity(before bytes: [UInt8]) throws {
        let told = TransportStream.discontinuity(before: bytes)
        let isWhole = stride(from: 0, to: told.count, by: 188).allSatisfy { told[$0] == 0x47 }
        try require(
            told.count.isMultiple(of: 188) && told.count <= 3 * 188 && isWhole,
            "\(told.count) bytes tell a gap"
        )
    }

    /// Returns the access unit with start codes of four bytes and without zeros after its units.
    private static func lengthened(_ bytes: [UInt8]) -> [UInt8] {
        AnnexB.units(in: bytes).flatMap { unit in
            let contents = bytes[unit.header..<unit.range.upperBound]
            let end = contents.lastIndex { $0 != 0 }
            return end.map { [0, 0, 0, 1] + contents[...$0] } ?? []
        }
    }

    /// Fragmented MP4, as `heliograph watch` reads it.
    static let fragments = FuzzTarget(
        "fragments",
        words: [
            "moof", "mdat", "traf", "tfdt", "trun", "free", "moov", "trak", "tkhd", "mdia", "minf", "stbl", "stsd",
            "Opus", "dOps", "mp4a", "tfhd",
        ]
    ) { input in
        var choices = Choices(input)
        let seed = choices.byte()
        let stream = choices.rest()
        let whole = read([stream[...]])
        let split = read(Arrival.pieces(of: stream, seed: seed))
        // Units before a fault count only if the fault comes with later bytes.
        let isSame = whole.failure == nil ? whole == split : whole.failure == split.failure
        try require(isSame, "the pieces matter: \(whole) and \(split)")
        try require(whole.units.reduce(0) { $0 + $1.bytes.count } <= stream.count, "more bytes than there were")
    }

    private struct Read: Equatable {
        var units: [AccessUnit] = []
        var failure: FragmentReader.Failure?
    }

    private static func read(_ pieces: [ArraySlice<UInt8>]) -> Read {
        var (reader, read) = (FragmentReader(), Read())
        do throws(FragmentReader.Failure) {
            for piece in pieces { read.units += try reader.append(piece) }
        } catch {
            read.failure = error
        }
        return read
    }
}
