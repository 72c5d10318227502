import Glibc

/// Where pixels are: memory of their own, or somebody else's, such as a buffer that a source lends to one frame after the other.
package final class PixelMemory: @unchecked Sendable {
    // Unchecked because `first` and `isOwn` are touched only under `lock`.

    private let byteCount: Int
    private let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)
    private var first: UnsafeRawPointer
    private var isOwn: Bool
    /// What keeps somebody else's memory in place.
    private let owner: (any AnyObject & Sendable)?

    /// Somebody else's memory, from the first pixel of the first row on.
    package init(_ first: UnsafeRawPointer, byteCount: Int, owner: (any AnyObject & Sendable)? = nil) {
        (self.first, self.byteCount, self.owner, isOwn) = (first, byteCount, owner, false)
        pthread_rwlock_init(lock, nil)
    }

    /// Memory of its own, which `fill` writes; uninitialised.
    package init(byteCount: Int, fill: (UnsafeMutableRawBufferPointer) -> Void) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, byteCount), alignment: 64)
        fill(memory)
        (first, self.byteCount, owner, isOwn) = (UnsafeRawPointer(memory.baseAddress!), byteCount, nil, true)
        pthread_rwlock_init(lock, nil)
    }

    deinit {
        if isOwn { first.deallocate() }
        pthread_rwlock_destroy(lock)
        lock.deallocate()
    }

    /// Runs `body` with the first pixel of the first row. Any number of threads may read at once.
    func withFirst<Result>(_ body: (UnsafeRawPointer) throws -> Result) rethrows -> Result {
        pthread_rwlock_rdlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        return try body(first)
    }

    /// Whether the pixels are no longer, or never were, in somebody else's memory.
    var isDetached: Bool { withFirst { _ in isOwn } }

    /// Whether these are the pixels in somebody else's memory at that place.
    func isLent(at first: UnsafeRawPointer, byteCount: Int) -> Bool {
        withFirst { $0 == first && byteCount == self.byteCount && !isOwn }
    }

    /// Copies the pixels, because somebody else is about to take the memory away. Waits for readers.
    package func detach() {
        pthread_rwlock_wrlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        guard !isOwn else { return }
        let memory = UnsafeMutableRawPointer.allocate(byteCount: max(1, byteCount), alignment: 64)
        memory.copyMemory(from: first, byteCount: byteCount)
        (first, isOwn) = (UnsafeRawPointer(memory), true)
    }
}
