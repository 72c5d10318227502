package import Packaging
import Synchronization
import SystemPackage

/// The movies that are played in segments. What is in the last few files stays in memory, and of many more where they
/// are cut.
package final class MovieCache: Sendable {
    /// A file with what is in it.
    package struct Movie: Sendable {
        package let file: RecordingFile
        package let index: MovieIndex
        package let segments: MovieSegments
    }

    /// How many movies stay in memory: of an hour, each takes up to 10 MB. And how many are known by their segments.
    private static let (mostMovies, mostSegments) = (8, 2000)

    private struct State {
        var movies = RecentValues<Movie>(most: MovieCache.mostMovies)
        var segments = RecentValues<MovieSegments>(most: MovieCache.mostSegments)
    }

    private let state = Mutex(State())

    package init() {}

    /// Returns where an item is cut.
    ///
    /// - Throws: ``LibraryError/file(_:reason:)``.
    package func segments(of item: Item, in library: Library) throws(LibraryError) -> MovieSegments {
        let file = try library.open(item)
        if let known = state.withLock({ $0.segments.value(of: item.id, length: file.length) }) { return known }
        return try read(file, of: item).segments
    }

    /// Returns an item whose segments include a certain one, if it has that.
    ///
    /// - Throws: ``LibraryError/file(_:reason:)``.
    package func movie(of item: Item, with segment: Int, in library: Library) throws(LibraryError) -> Movie {
        try movie(of: item, in: library) { $0.segments.range(of: segment) != nil }
    }

    /// Returns an item that lasts at least until a time, in µs, if it does.
    ///
    /// - Throws: ``LibraryError/file(_:reason:)``.
    package func movie(of item: Item, until time: UInt64, in library: Library) throws(LibraryError) -> Movie {
        try movie(of: item, in: library) { $0.index.end >= time }
    }

    /// - Parameter suffices: Whether what is known of the item is enough: while its file grows, that stays the same.
    private func movie(
        of item: Item,
        in library: Library,
        _ suffices: (Movie) -> Bool
    ) throws(LibraryError) -> Movie {
        if let known = state.withLock({ $0.movies.value(of: item.id) }), suffices(known) { return known }
        return try read(try library.open(item), of: item)
    }

    private func read(_ file: RecordingFile, of item: Item) throws(LibraryError) -> Movie {
        let length = file.length
        let scan: RecordingScan
        do {
            scan = try RecordingScan(size: length) { file.read(at: $0, count: $1) }
        } catch {
            throw .file(item.path, reason: "\(error)")
        }
        let segments = MovieSegments(of: scan.index, isComplete: item.state != .recording)
        let movie = Movie(file: file, index: scan.index, segments: segments)
        state.withLock { state in
            state.movies.set(movie, of: item.id, length: length)
            state.segments.set(segments, of: item.id, length: length)
        }
        return movie
    }
}

/// Values of items by id, of which the least recently used are forgotten.
private struct RecentValues<Value: Sendable>: Sendable {
    private struct Entry {
        let value: Value
        let length: UInt64
        var used: UInt64
    }

    private let most: Int
    private var entries: [Int64: Entry] = [:]
    private var uses: UInt64 = 0

    init(most: Int) { self.most = most }

    /// - Parameter length: If given, a value of a file of another length is not returned.
    mutating func value(of id: Int64, length: UInt64? = nil) -> Value? {
        guard let entry = entries[id], length == nil || length == entry.length else { return nil }
        uses += 1
        entries[id]?.used = uses
        return entry.value
    }

    mutating func set(_ value: Value, of id: Int64, length: UInt64) {
        uses += 1
        entries[id] = Entry(value: value, length: length, used: uses)
        guard entries.count > most, let oldest = entries.min(by: { $0.value.used < $1.value.used }) else { return }
        entries[oldest.key] = nil
    }
}
