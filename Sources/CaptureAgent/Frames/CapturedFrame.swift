import Glibc
package import Media

/// One raw frame of the screen: a lease on a buffer of the source, or memory of its own.
///
/// The pixels are those of a source's buffer until the source takes the buffer away (``detach()``): then they are copied.
/// The buffer goes back to the source when the last reference is dropped.
package final class CapturedFrame: @unchecked Sendable {
    // Unchecked because `pixels` and `lease` are touched only under `lock`.

    package let description: FrameDescription
    /// When the frame was captured, monotonic ns.
    package let captured: UInt64

    private let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)
    private var pixels: UnsafeRawPointer
    /// Nil when the pixels are owned.
    private var lease: BufferLease?

    /// A frame whose pixels lie in a source's buffer until `lease` is returned or the frame is detached.
    package init(leasing pixels: UnsafeRawPointer, description: FrameDescription, captured: UInt64, lease: BufferLease)
    {
        self.description = description
        self.captured = captured
        self.pixels = pixels
        self.lease = lease
        pthread_rwlock_init(lock, nil)
    }

    /// A frame with memory of its own, which `fill` writes: `description.byteCount` bytes, uninitialised.
    package init(description: FrameDescription, captured: UInt64, fill: (UnsafeMutableRawBufferPointer) -> Void) {
        self.description = description
        self.captured = captured
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, description.byteCount), alignment: 64)
        fill(memory)
        pixels = UnsafeRawPointer(memory.baseAddress!)
        pthread_rwlock_init(lock, nil)
    }

    deinit {
        if let lease { lease.giveBack() } else { pixels.deallocate() }
        pthread_rwlock_destroy(lock)
        lock.deallocate()
    }

    /// Runs `body` with the first pixel of the first row. Any number of threads may read at once.
    package func withPixels<Result>(_ body: (UnsafeRawPointer) throws -> Result) rethrows -> Result {
        pthread_rwlock_rdlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        return try body(pixels)
    }

    /// Copies the pixels, because the source is about to take its buffer away. Waits for readers.
    package func detach() {
        pthread_rwlock_wrlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        guard lease != nil else { return }
        let memory = UnsafeMutableRawPointer.allocate(byteCount: max(1, description.byteCount), alignment: 64)
        memory.copyMemory(from: pixels, byteCount: description.byteCount)
        pixels = UnsafeRawPointer(memory)
        lease = nil
    }
}
