import Media

/// A part of a recording as a plain movie with its index first, without another encoding.
///
/// It begins exactly at the asked time, with the picture that is shown then. An edit list hides the pictures between
/// the keyframe before and that one. It may span several files of a recording, and the gaps between them.
package struct MovieClip: Sendable {
    /// One file of the recording.
    package struct Source: Sendable {
        package let index: MovieIndex
        /// When its first picture plays, in µs on the recording's time.
        package let start: UInt64

        package init(index: MovieIndex, start: UInt64) {
            self.index = index
            self.start = start
        }
    }

    package enum Failure: Error, Equatable, Sendable {
        /// No picture plays in that time.
        case empty
        /// The pictures' size or encoding changes in that time.
        case changesFormat
    }

    /// A piece of a source that the clip contains.
    package struct Piece: Sendable, Equatable {
        /// The place of its source.
        package let source: Int
        package let piece: FilePiece
    }

    /// The clip's first bytes: `ftyp`, `moov`, and the header of `mdat`.
    package let head: [UInt8]
    /// What follows, in order.
    package let pieces: [Piece]

    /// The number of bytes of the whole clip.
    package var size: UInt64 { pieces.reduce(UInt64(head.count)) { $0 &+ $1.piece.length } }

    /// - Parameters:
    ///   - sources: The recording's files in order.
    ///   - range: On the recording's time, in µs.
    package init(_ sources: [Source], _ range: Range<UInt64>) throws(Failure) {
        let parts = sources.enumerated().compactMap { Part($0.element, place: $0.offset, range) }
        guard let first = parts.first else { throw .empty }
        // A later file may have its sound in another codec.
        var descriptions: [TrackDescription] = []
        for track in parts.flatMap(\.source.index.tracks).map(\.description) {
            if !descriptions.contains(where: { $0.id == track.id }) { descriptions.append(track) }
        }
        guard parts.allSatisfy({ $0.source.index.video?.description == first.source.index.video?.description }) else {
            throw .changesFormat
        }
        let base = first.base
        var index = MovieIndex(tracks: descriptions.map { MovieIndex.Track(description: $0) })
        index.end = range.upperBound &- base
        var (pieces, offset) = ([Piece](), UInt64(0))
        for part in parts {
            for chunk in part.chunks(of: descriptions) {
                index.tracks.update(at: chunk.track) { $0.append(chunk, since: base, at: offset) }
                pieces.append(Piece(source: part.place, piece: chunk.piece))
                offset &+= chunk.piece.length
            }
        }
        self.pieces = pieces
        let edits = index.tracks.map { $0.edit(from: first.start &- base, to: index.end) }
        // The index has the same size whatever its offsets are.
        let headSize = Self.head(index, edits, dataSize: offset).count
        for place in index.tracks.indices {
            index.tracks.update(at: place) { $0.samples.move(by: UInt64(clamping: headSize)) }
        }
        head = Self.head(index, edits, dataSize: offset)
    }

    private static func head(_ index: MovieIndex, _ edits: [EditList], dataSize: UInt64) -> [UInt8] {
        var writer = BoxWriter()
        writer.fileType()
        writer.put(index.movie(edits: edits))
        writer.put(UInt32(1))  // The size has 64 bits.
        writer.put("mdat")
        writer.put(dataSize &+ MovieIndex.freeSize)
        return writer.bytes
    }
}

/// A source with pictures in the clip's range.
private struct Part {
    let source: MovieClip.Source
    let place: Int
    private let range: Range<UInt64>
    /// The first picture that decoding needs, and the one that is shown first.
    private let (first, shown): (Int, Int)

    init?(_ source: MovieClip.Source, place: Int, _ range: Range<UInt64>) {
        guard let video = source.index.video, range.upperBound > source.start,
            range.lowerBound < source.start &+ source.index.end, !range.isEmpty
        else { return nil }
        let wanted = max(range.lowerBound, source.start) &- source.start
        guard let first = video.samples.sync(before: wanted) else { return nil }
        (self.source, self.place, self.range, self.first) = (source, place, range, first)
        shown = max(first, video.samples.first(after: wanted) &- 1)
        start = source.start &+ wanted
    }

    /// When the shown picture begins: with the clip, however long it has been there.
    let start: UInt64

    /// When the first picture plays, on the recording's time.
    var base: UInt64 {
        first == shown ? start : source.start &+ (source.index.video?.samples.times[at: first] ?? 0)
    }

    /// Returns what the clip takes of each of those tracks, in the order of the file.
    func chunks(of tracks: [TrackDescription]) -> [ClipChunk] {
        var chunks: [ClipChunk] = []
        for (place, description) in tracks.enumerated() {
            guard let track = source.index.tracks.first(where: { $0.description == description }) else { continue }
            func ticks(_ time: UInt64) -> UInt64 { MovieHeader.ticks(time, of: description.timescale) }
            let (samples, isVideo) = (track.samples, description.kind == .video)
            let from = isVideo ? first : max(0, samples.first(after: ticks(start &- source.start)) &- 1)
            let end = samples.first(after: max(ticks(range.upperBound &- source.start), 1) &- 1)
            chunks += samples.chunks(of: Range(from: from, to: end)) { piece, part in
                var times = samples.times[in: part].map { $0 &+ ticks(source.start) }
                if isVideo { times[at: shown &- part.lowerBound] = ticks(start) }
                return ClipChunk(
                    track: place,
                    piece: piece,
                    times: times,
                    sizes: Array(samples.sizes[in: part]),
                    syncs: part.map { samples.isSync($0) }
                )
            }
        }
        return chunks.sorted { $0.piece.offset < $1.piece.offset }
    }
}

/// Neighbouring samples of one track in one file.
private struct ClipChunk {
    /// The track's place in the clip.
    let track: Int
    let piece: FilePiece
    /// On the recording's time, in the track's time scale.
    let times: [UInt64]
    let sizes: [UInt32]
    /// Whether each sample is a sync sample.
    let syncs: [Bool]
}

extension SampleTable {
    /// Calls `make` for each part of the samples that is one piece of the file, and returns the results.
    fileprivate func chunks<Part>(of range: Range<Int>, make: (FilePiece, Range<Int>) -> Part) -> [Part] {
        chunks.enumerated().compactMap { place, chunk in
            let part = range.clamped(to: Range(from: chunk.first, to: chunks[at: place &+ 1]?.first ?? count))
            guard !part.isEmpty, let piece = places(of: part).first else { return nil }
            return make(piece, part)
        }
    }
}

extension MovieIndex.Track {
    /// Adds samples to a clip that begins at `base`, in µs on the recording's time.
    fileprivate mutating func append(_ chunk: ClipChunk, since base: UInt64, at offset: UInt64) {
        let start = MovieHeader.ticks(base, of: description.timescale)
        samples.beginChunk(at: offset)
        for (place, time) in chunk.times.enumerated() {
            samples.append(
                time: max(time, start) &- start,
                size: chunk.sizes[at: place] ?? 0,
                isSync: chunk.syncs[at: place] ?? false
            )
        }
    }

    /// Returns where the track plays in a clip.
    ///
    /// - Parameters:
    ///   - start: The clip's beginning, in µs after its first picture.
    ///   - end: Its end, likewise.
    fileprivate func edit(from start: UInt64, to end: UInt64) -> EditList {
        let first = samples.times.first ?? 0
        let (wanted, length) = (MovieHeader.ticks(start, of: description.timescale), end &- min(start, end))
        guard first > wanted else { return EditList(delay: 0, mediaTime: wanted &- first, duration: length) }
        let delay = min(length, MovieHeader.duration(first &- wanted, of: description.timescale))
        return EditList(delay: delay, mediaTime: 0, duration: length &- delay)
    }
}
