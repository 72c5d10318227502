package import Media

/// The pixels of a raw picture: a lease on a buffer of the source, a share of memory, or memory of their own.
///
/// They are those of a source's buffer until the source takes the buffer away (``PixelMemory/detach()``): then they are copied.
/// The buffer goes back to the source when the last reference is dropped.
package final class FramePixels: Sendable {
    package let description: FrameDescription

    private let memory: PixelMemory
    /// Nil when the source cannot take the memory away.
    private let lease: BufferLease?

    /// Pixels in a source's buffer, until `lease` is returned or the memory is detached.
    package init(leasing memory: PixelMemory, description: FrameDescription, lease: BufferLease) {
        self.description = description
        self.memory = memory
        self.lease = lease
    }

    /// Pixels in memory that stays as it is as long as `owner` does and these pixels are there.
    package init(sharing first: UnsafeRawPointer, description: FrameDescription, owner: any AnyObject & Sendable) {
        self.description = description
        memory = PixelMemory(first, byteCount: description.byteCount, owner: owner)
        lease = nil
    }

    /// Memory of its own, which `fill` writes: `description.byteCount` bytes, uninitialised.
    package init(description: FrameDescription, fill: (UnsafeMutableRawBufferPointer) -> Void) {
        self.description = description
        memory = PixelMemory(byteCount: description.byteCount, fill: fill)
        lease = nil
    }

    deinit {
        if let lease, !memory.isDetached { lease.giveBack() }
    }

    /// Runs `body` with the first pixel of the first row. Any number of threads may read at once.
    package func withFirst<Result>(_ body: (UnsafeRawPointer) throws -> Result) rethrows -> Result {
        try memory.withFirst(body)
    }
}
