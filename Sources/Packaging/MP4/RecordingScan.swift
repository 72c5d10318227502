import Media

/// What a recording's file holds, found by reading it: of a complete one, and of one that broke off.
///
/// It reads what ``HybridMovie`` writes, whatever a crash or a loss of power has left of it, and never more than the
/// headers of the file and its last fragments.
package struct RecordingScan: Sendable {
    package enum Failure: Error, Equatable, Sendable {
        /// The bytes are not the beginning of such a recording.
        case notARecording
        /// The file has no whole fragment.
        case empty
        /// The file cannot be read.
        case unreadable
    }

    /// Reads up to `count` bytes at `offset`; `nil` if that fails. Fewer bytes mean that the file ends there.
    package typealias Read = (_ offset: UInt64, _ count: Int) -> [UInt8]?

    /// The tracks and samples of all whole fragments.
    package let index: MovieIndex
    /// Whether it is a complete movie.
    package let isComplete: Bool
    /// The number of bytes of the recording without what a crash left after the last whole fragment.
    package let size: UInt64

    /// The most bytes of `moov` and of `moof`.
    private static let (mostMovie, mostFragment) = (512 << 20, 8 << 20)
    /// How many fragments may be damaged although they seem whole: those that were not synchronized.
    private static let unsynchronized = 8

    /// - Parameter size: The file's size.
    package init(size: UInt64, read: @escaping Read) throws(Failure) {
        let start = MovieIndex.freeOffset &+ MovieIndex.freeSize
        guard let head = read(0, Int(clamping: start)) else { throw .unreadable }
        guard let whole = Self.wholeSize(head) else { throw .notARecording }
        if whole > 0, whole < size, let movie = try Self.movie(at: whole, size: size, read) {
            (index, isComplete, self.size) = (movie, true, whole)
            return
        }
        var scanner = FragmentScanner(offset: start, size: size, read: read)
        // The samples of a recording that goes on are in its fragments alone.
        guard var index = try scanner.beginning(mostMovie: Self.mostMovie),
            index.tracks.allSatisfy({ $0.samples.isEmpty })
        else { throw .notARecording }
        // The last fragments wait until their checksums are known.
        var (waiting, end, isBroken) = ([FragmentScanner.Fragment](), scanner.offset, false)
        while !isBroken, let fragment = try scanner.next(mostFragment: Self.mostFragment) {
            waiting.append(fragment)
            guard waiting.count > Self.unsynchronized, let first = waiting.takeFirst() else { continue }
            if index.take(first) { end = first.end } else { isBroken = true }
        }
        for fragment in waiting where !isBroken {
            if try scanner.isWhole(fragment), index.take(fragment) { end = fragment.end } else { isBroken = true }
        }
        guard index.video?.samples.isEmpty == false else { throw .empty }
        index.end = max(index.end, index.lastTime &+ 1)
        (self.index, isComplete, self.size) = (index, false, end)
    }

    /// Returns the size that the `mdat` of a complete movie and what precedes it have; 0 if the recording is not
    /// complete; `nil` if it is none.
    private static func wholeSize(_ head: [UInt8]) -> UInt64? {
        head.read { head in
            var rest = head
            guard rest.nextBox()?.type == .fileType, head.count &- rest.count == Int(clamping: MovieIndex.freeOffset)
            else {
                return nil
            }
            var data = rest
            if rest.nextBox()?.type == .free { return 0 }
            guard data.u32() == 1, data.u32().flatMap(BoxType.init) == .data, let size = data.u64(),
                size >= MovieIndex.freeSize, size < 1 << 62
            else { return nil }
            return MovieIndex.freeOffset &+ size
        }
    }

    /// Returns what the last box, `moov`, says; `nil` if it is damaged.
    private static func movie(at offset: UInt64, size: UInt64, _ read: Read) throws(Failure) -> MovieIndex? {
        let count = size &- offset
        guard count <= UInt64(clamping: mostMovie) else { return nil }
        guard let bytes = read(offset, Int(clamping: count)) else { throw .unreadable }
        let index = bytes.read { bytes -> MovieIndex? in
            var rest = bytes
            guard let box = rest.nextBox(), box.type == .movie else { return nil }
            return MovieIndex(movie: box.payload)
        }
        guard let index, index.video?.samples.isEmpty == false, index.lies(before: offset) else { return nil }
        return index
    }
}

/// A reader of a recording's fragments.
private struct FragmentScanner {
    /// A fragment, or a note between two.
    struct Fragment {
        let offset: UInt64
        /// The payload of `moof` or of a note.
        let head: [UInt8]
        let isNote: Bool
        /// The offsets of the payload of `mdat`.
        let data: Range<UInt64>
        /// The offset of what follows.
        let end: UInt64
    }

    private(set) var offset: UInt64
    let size: UInt64
    let read: RecordingScan.Read

    /// Reads the `ftyp` and `moov` before the fragments.
    mutating func beginning(mostMovie: Int) throws(RecordingScan.Failure) -> MovieIndex? {
        guard let type = try box(), type.type == .fileType else { return nil }
        offset = type.end
        guard let movie = try box(), movie.type == .movie, let bytes = try payload(movie, most: mostMovie) else {
            return nil
        }
        offset = movie.end
        return bytes.read { MovieIndex(movie: $0) }
    }

    /// Reads the next fragment or note; `nil` at the end, and for anything else.
    mutating func next(mostFragment: Int) throws(RecordingScan.Failure) -> Fragment? {
        guard let head = try box(), head.type == .movieFragment || head.type == .note,
            let bytes = try payload(head, most: mostFragment)
        else { return nil }
        let start = offset
        if head.type == .note {
            offset = head.end
            return Fragment(offset: start, head: bytes, isNote: true, data: 0..<0, end: offset)
        }
        offset = head.end
        guard let data = try box(), data.type == .data else {
            offset = start
            return nil
        }
        offset = data.end
        guard let sum = try box(), sum.type == .skip, sum.end == offset &+ FragmentChecksum.boxSize else {
            offset = start
            return nil
        }
        offset = sum.end
        return Fragment(
            offset: start,
            head: bytes,
            isNote: false,
            data: Range(from: data.payload, to: data.end),
            end: offset
        )
    }

    /// Whether the fragment's checksum is right. A note has none.
    func isWhole(_ fragment: Fragment) throws(RecordingScan.Failure) -> Bool {
        guard !fragment.isNote else { return true }
        let count = Int(clamping: fragment.end &- fragment.offset)
        guard let bytes = read(fragment.offset, count) else { throw .unreadable }
        guard bytes.count == count else { return false }
        let fragment = count &- Int(clamping: FragmentChecksum.boxSize)
        return FragmentChecksum.box(Array(bytes[in: Range(from: 0, to: fragment)])) == Array(bytes[from: fragment])
    }

    private struct Box {
        let type: BoxType?
        let payload: UInt64
        let end: UInt64
    }

    /// Reads the header of the box at ``offset``; `nil` if the box is not whole.
    private func box() throws(RecordingScan.Failure) -> Box? {
        guard offset < size else { return nil }
        guard let bytes = read(offset, ByteReader.boxHeader) else { throw .unreadable }
        return bytes.read { bytes in
            var header = bytes
            guard let length = header.u32(), let type = header.u32(), length >= ByteReader.boxHeader,
                UInt64(clamping: length) <= size &- offset
            else { return nil }
            return Box(
                type: BoxType(rawValue: type),
                payload: offset &+ UInt64(clamping: ByteReader.boxHeader),
                end: offset &+ UInt64(clamping: length)
            )
        }
    }

    private func payload(_ box: Box, most: Int) throws(RecordingScan.Failure) -> [UInt8]? {
        let count = Int(clamping: box.end &- box.payload)
        guard count <= most else { return nil }
        guard let bytes = read(box.payload, count) else { throw .unreadable }
        return bytes.count == count ? bytes : nil
    }
}

extension MovieIndex {
    /// Adds a fragment or a note.
    ///
    /// - Returns: Whether it continues the recording.
    fileprivate mutating func take(_ fragment: FragmentScanner.Fragment) -> Bool {
        guard fragment.isNote else {
            return fragment.head.read { take($0, at: fragment.offset, data: fragment.data) }
        }
        guard let note = fragment.head.read({ Self.note($0) }) else { return false }
        notes.append(note)
        return true
    }
}
