package import Media
package import NIOCore

extension ByteBuffer: MediaBytes {
    package init(byteCount: Int, _ write: (inout ByteWriter) -> Void) {
        self = ByteBufferAllocator().buffer(capacity: byteCount)
        writeWithUnsafeMutableBytes(minimumWritableBytes: byteCount) { memory in
            var writer = ByteWriter(UnsafeMutableRawBufferPointer(rebasing: memory.prefix(byteCount)))
            write(&writer)
            return writer.count
        }
    }

    package static var none: ByteBuffer { ByteBuffer() }

    package var byteCount: Int { readableBytes }

    package mutating func reserve(_ byteCount: Int) { reserveCapacity(minimumWritableBytes: byteCount - readableBytes) }

    package mutating func append(_ bytes: ByteReader) { writeBytes(bytes.remaining) }

    package mutating func removeLeading(_ count: Int) { moveReaderIndex(forwardBy: min(max(0, count), readableBytes)) }

    package func read<Result, Failure: Error>(
        _ body: (ByteReader) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try readableBytesSpan.withUnsafeBytes { bytes throws(Failure) in try body(ByteReader(bytes)) }
    }
}
