/// A reader of big-endian fields from the front of untrusted bytes.
///
/// What is missing is `nil`: there is never a trap and never access to other memory. The bytes must outlive the reader,
/// so keep it inside the closure that creates it:
///
///     bytes.withUnsafeBytes { bytes in
///         var reader = ByteReader(bytes)
///         guard let length = reader.u32(), let body = reader.take(Int(clamping: length)) else { return nil }
///         …
///     }
package struct ByteReader {
    /// The bytes that have not been read.
    package private(set) var remaining: UnsafeRawBufferPointer

    package init(_ bytes: UnsafeRawBufferPointer) { remaining = bytes }

    /// The number of bytes that have not been read.
    package var count: Int { remaining.count }

    package mutating func u8() -> UInt8? { integer() }
    package mutating func u16() -> UInt16? { integer() }
    package mutating func u32() -> UInt32? { integer() }
    package mutating func u64() -> UInt64? { integer() }

    /// Takes the next `count` bytes as another reader. If there are fewer, takes nothing and returns `nil`.
    package mutating func take(_ count: Int) -> ByteReader? {
        guard 0...remaining.count ~= count else { return nil }
        defer { remaining = UnsafeRawBufferPointer(rebasing: remaining[count...]) }
        return ByteReader(UnsafeRawBufferPointer(rebasing: remaining[..<count]))
    }

    /// Skips the next `count` bytes. If there are fewer, skips nothing and returns `false`.
    @discardableResult
    package mutating func skip(_ count: Int) -> Bool { take(count) != nil }

    /// The byte at `place` among the unread bytes, or `nil` if there is none.
    package subscript(at place: Int) -> UInt8? {
        remaining.indices.contains(place) ? remaining[place] : nil
    }

    /// A reader of those bytes in `range` of the unread bytes that exist.
    package subscript(in range: Range<Int>) -> ByteReader {
        ByteReader(UnsafeRawBufferPointer(rebasing: remaining[range.clamped(to: remaining.indices)]))
    }

    /// Returns a reader of up to `count` unread bytes, starting at `place`.
    package func part(from place: Int, count: Int) -> ByteReader {
        ByteReader(UnsafeRawBufferPointer(rebasing: remaining.dropFirst(max(0, place)).prefix(max(0, count))))
    }

    /// A copy of the unread bytes.
    package var bytes: [UInt8] { Array(remaining) }

    private mutating func integer<Value: FixedWidthInteger>() -> Value? {
        take(MemoryLayout<Value>.size).map { Value(bigEndian: $0.remaining.loadUnaligned(as: Value.self)) }
    }
}
