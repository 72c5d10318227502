/// Reads big-endian fields off the front of bytes that somebody else wrote.
///
/// What is not there is `nil`: never a trap, and never memory that belongs to something else. The bytes must outlive the reader, so it
/// stays inside the closure that it is made in:
///
///     bytes.withUnsafeBytes { bytes in
///         var reader = ByteReader(bytes)
///         guard let length = reader.u32(), let body = reader.take(Int(clamping: length)) else { return nil }
///         …
///     }
package struct ByteReader {
    /// The bytes that have not been read yet.
    package private(set) var remaining: UnsafeRawBufferPointer

    package init(_ bytes: UnsafeRawBufferPointer) { remaining = bytes }

    /// The number of bytes that have not been read yet.
    package var count: Int { remaining.count }

    package mutating func u8() -> UInt8? { integer() }
    package mutating func u16() -> UInt16? { integer() }
    package mutating func u32() -> UInt32? { integer() }
    package mutating func u64() -> UInt64? { integer() }

    /// Takes the next `count` bytes as a reader of their own. Takes nothing and returns `nil` if there are fewer.
    package mutating func take(_ count: Int) -> ByteReader? {
        guard 0...remaining.count ~= count else { return nil }
        defer { remaining = UnsafeRawBufferPointer(rebasing: remaining[count...]) }
        return ByteReader(UnsafeRawBufferPointer(rebasing: remaining[..<count]))
    }

    /// Passes over the next `count` bytes. Passes over nothing and returns `false` if there are fewer.
    @discardableResult
    package mutating func skip(_ count: Int) -> Bool { take(count) != nil }

    /// The byte at `place` of those that have not been read yet, or `nil` if there is none.
    package subscript(at place: Int) -> UInt8? {
        remaining.indices.contains(place) ? remaining[place] : nil
    }

    /// A reader of the bytes in `range` of those that have not been read yet, as far as they exist.
    package subscript(in range: Range<Int>) -> ByteReader {
        ByteReader(UnsafeRawBufferPointer(rebasing: remaining[range.clamped(to: remaining.indices)]))
    }

    /// A reader of `count` bytes from `place` on of those that have not been read yet, as far as they exist.
    package func part(from place: Int, count: Int) -> ByteReader {
        ByteReader(UnsafeRawBufferPointer(rebasing: remaining.dropFirst(max(0, place)).prefix(max(0, count))))
    }

    /// A copy of the bytes that have not been read yet.
    package var bytes: [UInt8] { Array(remaining) }

    private mutating func integer<Value: FixedWidthInteger>() -> Value? {
        take(MemoryLayout<Value>.size).map { Value(bigEndian: $0.remaining.loadUnaligned(as: Value.self)) }
    }
}
