import Glibc

/// The memory of pixels: either its own, or memory of another owner, such as a buffer that a source lends to one frame
/// after another.
package final class PixelMemory: @unchecked Sendable {
    // Unchecked because `first` and `isOwn` are touched only under `lock`.

    private let byteCount: Int
    private let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)
    private var first: UnsafeRawPointer
    private var isOwn: Bool
    /// The object that keeps foreign memory in place.
    private let owner: (any AnyObject & Sendable)?

    /// Creates a reference to foreign memory, starting at the first pixel of the first row.
    package init(_ first: UnsafeRawPointer, byteCount: Int, owner: (any AnyObject & Sendable)? = nil) {
        (self.first, self.byteCount, self.owner, isOwn) = (first, byteCount, owner, false)
        pthread_rwlock_init(lock, nil)
    }

    /// Creates memory of its own, which `fill` must write; uninitialised.
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

    /// Runs `body` with the first pixel of the first row. Any number of threads may read at the same time.
    func withFirst<Result>(_ body: (UnsafeRawPointer) throws -> Result) rethrows -> Result {
        pthread_rwlock_rdlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        return try body(first)
    }

    /// Whether the pixels are in memory of their own, from the start or since ``detach()``.
    var isDetached: Bool { withFirst { _ in isOwn } }

    /// Returns whether these pixels are in foreign memory at that place.
    func isLent(at first: UnsafeRawPointer, byteCount: Int) -> Bool {
        withFirst { $0 == first && byteCount == self.byteCount && !isOwn }
    }

    /// Copies the pixels, because the owner is about to take the memory away. Waits for readers.
    package func detach() {
        pthread_rwlock_wrlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        guard !isOwn else { return }
        let memory = UnsafeMutableRawPointer.allocate(byteCount: max(1, byteCount), alignment: 64)
        memory.copyMemory(from: first, byteCount: byteCount)
        (first, isOwn) = (UnsafeRawPointer(memory), true)
    }
}
