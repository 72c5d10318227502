import Library
import Media
import Packaging

/// A segment of a running session's HLS that is no longer in memory, as the session's recording has it.
///
/// It has the same tracks and times as the segments in memory. If it does not begin with a keyframe in the files, it
/// repeats the pictures since one (``MovieSegment``).
struct RecordedPast: Sendable {
    /// When it begins and ends, as PTS in µs.
    let range: Range<Int64>
    let number: UInt64
    /// The stream's tracks.
    let tracks: [MediaTrack]
    /// The monotonic instant of PTS 0, in ns.
    let epoch: UInt64

    /// The recorder has not yet written all of it.
    struct NotWritten: Error {}

    /// Returns what it consists of, in order; nothing if the recording no longer has it.
    ///
    /// - Parameters:
    ///   - items: The files of the recording, in order.
    ///   - movie: Returns a file, which lasts at least until a time in µs if it is written that far.
    /// - Throws: ``NotWritten``, and what `movie` throws.
    func pieces(in items: [Item], movie: (Item, UInt64) throws -> MovieCache.Movie) throws -> [FileBody.Segment] {
        var pieces: [FileBody.Segment] = []
        for (place, item) in items.enumerated() {
            let origin = origin(of: item)
            let next = items[at: place + 1].map(origin(of:)) ?? .max
            guard origin >= 0, origin < range.upperBound, next > range.lowerBound else { continue }
            let begin = UInt64(clamping: max(range.lowerBound - origin, 0))
            let end = UInt64(clamping: min(range.upperBound, next) - origin)
            guard begin < end else { continue }
            let mayGrow = item.state == .recording
            let written = end + (mayGrow && tracks.contains { $0.kind == .audio } ? MovieSegments.lateness : 0)
            let movie = try movie(item, written)
            guard movie.index.end >= written || !mayGrow else { throw NotWritten() }
            pieces += fragments(of: movie, Range(from: begin, to: end), at: UInt64(clamping: origin))
        }
        return pieces
    }

    /// Returns the PTS of a file's beginning, in µs; negative for one of a former run of the relay.
    private func origin(of item: Item) -> Int64 { (item.facts.anchor - Int64(clamping: epoch)) / 1000 }

    private func fragments(of movie: MovieCache.Movie, _ range: Range<UInt64>, at offset: UInt64) -> [FileBody.Segment]
    {
        let sequence = UInt32(truncatingIfNeeded: number)
        let segments = tracks.compactMap { track in
            MovieSegment(
                of: movie.index,
                sound: track.soundCodec,
                range,
                number: sequence,
                offset: offset,
                as: TrackDescription.id(of: track)
            )
        }
        return segments.flatMap(\.pieces).map { FileBody.Segment($0, of: movie.file) }
    }
}
