import FoundationEssentials
import HeliographAPI
import Library
import Media
import Packaging

/// The files of a recording as one presentation of HLS.
///
/// They have one time line. The address of a segment says when its file begins in the presentation, so a segment is the
/// same for ever, whatever is deleted later.
struct RecordedMovies: Sendable {
    /// How the addresses of segments end.
    static let segmentEnding = ".m4s"

    private struct Movie {
        let item: Item
        let segments: MovieSegments
        /// When it begins in the presentation, in µs.
        let offset: UInt64
    }

    private let movies: [Movie]
    /// Whether no segment follows.
    private let isComplete: Bool

    /// - Parameters:
    ///   - items: The files of a recording, in order.
    ///   - segments: Returns where a file is cut.
    init(_ items: [Item], segments: (Item) throws -> MovieSegments) rethrows {
        var (movies, end) = ([Movie](), UInt64(0))
        for item in items {
            let found = try segments(item)
            guard found.count > 0, let last = found.bounds.last else { continue }
            let distance = movies.first.map { item.facts.distance(from: $0.item.facts) } ?? 0
            let movie = Movie(item: item, segments: found, offset: max(end, UInt64(clamping: distance)))
            end = movie.offset + last
            movies.append(movie)
        }
        self.movies = movies
        isComplete = !items.contains { $0.state == .recording }
    }

    /// Returns the first file that has a track.
    private func first(with track: MediaPlaylist.Track) -> Movie? { movies.first { $0.segments.track(track) != nil } }

    /// Returns the file whose initialization segment a file has. Those of the same format share one, because some
    /// players complain about each that follows. A file without the track has the one of another file.
    private func mapped(_ movie: Movie, _ track: MediaPlaylist.Track) -> Movie {
        guard let description = movie.segments.track(track) else { return first(with: track) ?? movies.first ?? movie }
        return movies.first { $0.segments.track(track) == description } ?? movie
    }

    // MARK: Playlists

    /// Returns the playlist that names those of the tracks.
    ///
    /// - Parameter item: The one that the caller asked for.
    func multivariant(of item: Item) -> String {
        var codecs: [String] = []
        for codec in movies.compactMap({ $0.segments.track(.video)?.codec }) where !codecs.contains(codec) {
            codecs.append(codec)
        }
        let largest = movies.map(\.item.facts).max { $0.width * $0.height < $1.width * $1.height } ?? item.facts
        return MultivariantPlaylist(
            rates: rates,
            codecs: codecs,
            size: (largest.width, largest.height),
            fps: movies.map(\.item.facts.fps).max() ?? 0,
            sounds: sounds
        ).text { "\($0.rawValue)/index.m3u8" }
    }

    /// The tracks of sound with their formats, that of the longest time first.
    private var sounds: [(track: MediaPlaylist.Track, codec: String)] {
        let tracks = MediaPlaylist.Track.allCases.filter { $0.soundCodec != nil }
        let found = tracks.compactMap { track in
            first(with: track)?.segments.track(track).map { (track: track, codec: $0.codec, time: time(with: track)) }
        }
        // Sorting does not keep the order of equal ones, which is that of preference.
        return found.enumerated().sorted { ($1.element.time, $0.offset) < ($0.element.time, $1.offset) }.map {
            ($0.element.track, $0.element.codec)
        }
    }

    /// Returns the length of all files that have a track, in µs.
    private func time(with track: MediaPlaylist.Track) -> UInt64 {
        movies.reduce(0) { $0 + ($1.segments.track(track) == nil ? 0 : $1.segments.bounds.last ?? 0) }
    }

    private var rates: (peak: UInt64, average: UInt64) {
        var (peak, bytes, duration): (Double, Double, Double) = (0, 0, 0)
        for movie in movies {
            for (number, size) in movie.segments.sizes.enumerated() {
                guard let range = movie.segments.range(of: number) else { continue }
                let length = Double(range.upperBound - range.lowerBound) / 1e6
                // A very short last segment says nothing of the rate.
                peak = max(peak, Double(size) * 8 / max(length, 1))
                (bytes, duration) = (bytes + Double(size), duration + length)
            }
        }
        let average = duration > 0 ? bytes * 8 / duration : 0
        return (UInt64(exactly: peak.rounded()) ?? 0, UInt64(exactly: average.rounded()) ?? 0)
    }

    /// Returns the playlist of a track. That of sound which no file has is silent: a file may have declared it while it
    /// grew.
    func playlist(of track: MediaPlaylist.Track) -> String {
        let sections = movies.map { movie in
            let facts = movie.item.facts
            let start = facts.start + Int64(clamping: movie.segments.bounds.first ?? 0)
            return MediaPlaylist.Section(
                map: "\(Self.folder(of: mapped(movie, track).item, track))/init.mp4",
                date: Date(timeIntervalSince1970: Double(start) / 1e6).apiText,
                segments: movie.segments.sizes.indices.compactMap { number in
                    guard let range = movie.segments.range(of: number) else { return nil }
                    return MediaPlaylist.Segment(
                        address: "\(Self.folder(of: movie.item, track))/\(movie.offset)/\(number)\(Self.segmentEnding)",
                        duration: range.upperBound - range.lowerBound,
                        isGap: track == .video && facts.isGap(range)
                    )
                }
            )
        }
        return MediaPlaylist(sections, isComplete: isComplete).text
    }

    /// Returns the address of an item's track, relative to any playlist of a track.
    private static func folder(of item: Item, _ track: MediaPlaylist.Track) -> String {
        "../../../\(item.id)/hls/\(track.rawValue)"
    }
}

extension MovieSegments {
    /// Returns what a track is; `nil` if there is none of that name.
    fileprivate func track(_ name: MediaPlaylist.Track) -> TrackDescription? {
        tracks.first { MediaPlaylist.Track($0) == name }
    }
}

extension ItemFacts {
    /// Whether pictures were lost during the whole of a time in the file, in µs.
    fileprivate func isGap(_ range: Range<UInt64>) -> Bool {
        gaps.contains { gap in
            UInt64(clamping: gap.start) <= range.lowerBound
                && UInt64(clamping: gap.start) + UInt64(clamping: gap.length) >= range.upperBound
        }
    }

    /// Returns how much later it began than another item, in µs: by the monotonic clock if both are of one boot.
    func distance(from other: ItemFacts) -> Int64 {
        boot == other.boot && !boot.isEmpty ? (anchor - other.anchor) / 1000 : start - other.start
    }
}
