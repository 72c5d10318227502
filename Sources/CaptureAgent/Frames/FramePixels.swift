package import Media

/// The pixels of a raw picture: a leased buffer of the source, shared memory, or memory of their own.
///
/// Leased pixels are copied when the source takes the buffer away (``PixelMemory/detach()``). Dropping the last
/// reference returns the buffer to the source.
package final class FramePixels: Sendable {
    package let description: FrameDescription

    private let memory: PixelMemory
    /// The lease on the buffer; `nil` if the source cannot take the memory away.
    private let lease: BufferLease?

    /// Creates pixels in a source's buffer, which stay there until `lease` is returned or the memory is detached.
    package init(leasing memory: PixelMemory, description: FrameDescription, lease: BufferLease) {
        self.description = description
        self.memory = memory
        self.lease = lease
    }

    /// Creates pixels in memory that stays unchanged while both `owner` and these pixels exist.
    package init(sharing first: UnsafeRawPointer, description: FrameDescription, owner: any AnyObject & Sendable) {
        self.description = description
        memory = PixelMemory(first, byteCount: description.byteCount, owner: owner)
        lease = nil
    }

    /// Creates pixels in new memory, which `fill` must write: `description.byteCount` bytes, uninitialised.
    package init(description: FrameDescription, fill: (UnsafeMutableRawBufferPointer) -> Void) {
        self.description = description
        memory = PixelMemory(byteCount: description.byteCount, fill: fill)
        lease = nil
    }

    deinit {
        if let lease, !memory.isDetached { lease.giveBack() }
    }

    /// Runs `body` with the first pixel of the first row. Any number of threads may read at the same time.
    package func withFirst<Result>(_ body: (UnsafeRawPointer) throws -> Result) rethrows -> Result {
        try memory.withFirst(body)
    }
}
