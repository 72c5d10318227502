import Glibc
package import Media

/// The pixels of a raw picture: a lease on a buffer of the source, a share of memory, or memory of their own.
///
/// They are those of a source's buffer until the source takes the buffer away (``detach()``): then they are copied.
/// The buffer goes back to the source when the last reference is dropped.
package final class FramePixels: @unchecked Sendable {
    // Unchecked because `first` and `lease` are touched only under `lock`.

    package let description: FrameDescription

    private let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)
    private var first: UnsafeRawPointer
    /// Nil when the source cannot take the memory away.
    private var lease: BufferLease?
    /// What keeps shared memory in place.
    private let owner: (any AnyObject & Sendable)?

    /// Pixels in a source's buffer, until `lease` is returned or they are detached.
    package init(leasing first: UnsafeRawPointer, description: FrameDescription, lease: BufferLease) {
        self.description = description
        self.first = first
        self.lease = lease
        owner = nil
        pthread_rwlock_init(lock, nil)
    }

    /// Pixels in memory that stays as it is as long as `owner` does and these pixels are there.
    package init(sharing first: UnsafeRawPointer, description: FrameDescription, owner: any AnyObject & Sendable) {
        self.description = description
        self.first = first
        self.owner = owner
        pthread_rwlock_init(lock, nil)
    }

    /// Memory of its own, which `fill` writes: `description.byteCount` bytes, uninitialised.
    package init(description: FrameDescription, fill: (UnsafeMutableRawBufferPointer) -> Void) {
        self.description = description
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, description.byteCount), alignment: 64)
        fill(memory)
        first = UnsafeRawPointer(memory.baseAddress!)
        owner = nil
        pthread_rwlock_init(lock, nil)
    }

    deinit {
        if let lease { lease.giveBack() } else if owner == nil { first.deallocate() }
        pthread_rwlock_destroy(lock)
        lock.deallocate()
    }

    /// Runs `body` with the first pixel of the first row. Any number of threads may read at once.
    package func withFirst<Result>(_ body: (UnsafeRawPointer) throws -> Result) rethrows -> Result {
        pthread_rwlock_rdlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        return try body(first)
    }

    /// Copies the pixels, because the source is about to take its buffer away. Waits for readers.
    package func detach() {
        pthread_rwlock_wrlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        guard lease != nil else { return }
        let memory = UnsafeMutableRawPointer.allocate(byteCount: max(1, description.byteCount), alignment: 64)
        memory.copyMemory(from: first, byteCount: description.byteCount)
        first = UnsafeRawPointer(memory)
        lease = nil
    }
}
