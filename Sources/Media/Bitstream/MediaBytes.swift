/// The bytes of a unit or of a packaged unit: an array, or the buffers that the relay's sockets read and write.
package protocol MediaBytes: Sendable, Equatable {
    /// - Parameters:
    ///   - byteCount: How many bytes `write` puts.
    ///   - write: Puts the bytes. Missing bytes at the end are left out.
    init(byteCount: Int, _ write: (inout ByteWriter) -> Void)

    /// An empty value.
    static var none: Self { get }

    var byteCount: Int { get }

    /// Reserves memory for this number of bytes in total.
    mutating func reserve(_ byteCount: Int)

    mutating func append(_ bytes: ByteReader)

    /// Removes the first `count` bytes, or all if there are fewer.
    mutating func removeLeading(_ count: Int)

    /// Calls `body` with a reader of all bytes, which is valid only during the call.
    func read<Result, Failure: Error>(_ body: (ByteReader) throws(Failure) -> Result) throws(Failure) -> Result
}

extension [UInt8]: MediaBytes {
    package init(byteCount: Int, _ write: (inout ByteWriter) -> Void) {
        self.init(unsafeUninitializedCapacity: byteCount) { memory, count in
            var writer = ByteWriter(UnsafeMutableRawBufferPointer(memory))
            write(&writer)
            count = writer.count
        }
    }

    package static var none: [UInt8] { [] }

    package var byteCount: Int { count }

    package mutating func reserve(_ byteCount: Int) { reserveCapacity(byteCount) }

    package mutating func append(_ bytes: ByteReader) { append(contentsOf: bytes.remaining) }

    package func read<Result, Failure: Error>(
        _ body: (ByteReader) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try span.bytes.withUnsafeBytes { bytes throws(Failure) in try body(ByteReader(bytes)) }
    }
}

/// A writer of bytes into memory of a known size. Bytes that do not fit are left out.
package struct ByteWriter {
    private let memory: UnsafeMutableRawBufferPointer
    /// The number of bytes written.
    package private(set) var count = 0

    package init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

    package mutating func put(_ byte: UInt8) {
        guard count < memory.count else { return }
        memory[count] = byte
        count &+= 1
    }

    /// Writes the integer's bytes, highest first.
    package mutating func put(bigEndian integer: some FixedWidthInteger) {
        withUnsafeBytes(of: integer.bigEndian) { put($0) }
    }

    /// Writes the integer's bytes, lowest first.
    package mutating func put(littleEndian integer: some FixedWidthInteger) {
        withUnsafeBytes(of: integer.littleEndian) { put($0) }
    }

    package mutating func put(_ bytes: [UInt8]) { bytes.withUnsafeBytes { put($0) } }

    package mutating func put(_ bytes: ByteReader) { put(bytes.remaining) }

    /// Writes `byte` this many times.
    package mutating func fill(_ byte: UInt8, count: Int) {
        let fitting = min(max(0, count), memory.count &- self.count)
        guard fitting > 0 else { return }
        UnsafeMutableRawBufferPointer(rebasing: memory[self.count..<(self.count &+ fitting)])
            .initializeMemory(as: UInt8.self, repeating: byte)
        self.count &+= fitting
    }

    private mutating func put(_ bytes: UnsafeRawBufferPointer) {
        let fitting = min(bytes.count, memory.count &- count)
        guard fitting > 0 else { return }
        UnsafeMutableRawBufferPointer(rebasing: memory[count..<(count &+ fitting)])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<fitting]))
        count &+= fitting
    }
}
