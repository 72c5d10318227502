import Glibc

/// What a program has written, in memory that is used again for the next one.
package final class CommandOutput {
    /// Bytes that are read at once, at least.
    private static let step = 1 << 16

    private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var count = 0
    /// Most bytes that are kept.
    private let limit: Int

    package init(limit: Int) {
        self.limit = limit
    }

    deinit {
        free(memory.baseAddress)
    }

    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    func clear() { count = 0 }

    enum Progress {
        /// Nothing more for now.
        case empty
        case ended
        /// More than may be, or than there is memory for.
        case full
    }

    /// Reads all that a descriptor, which does not block, has.
    func readAll(from descriptor: Int32) -> Progress {
        while true {
            guard makeRoom() else { return .full }
            let result = read(descriptor, memory.baseAddress! + count, memory.count - count)
            if result == 0 { return .ended }
            if result > 0 {
                count += result
            } else if errno == EAGAIN {
                return .empty
            } else if errno != EINTR {
                return .ended
            }
        }
    }

    private func makeRoom() -> Bool {
        guard count < limit else { return false }
        guard memory.count - count < Self.step else { return true }
        let size = min(max(memory.count * 2, Self.step * 2), limit + Self.step)
        guard let larger = realloc(memory.baseAddress, size) else { return false }
        memory = UnsafeMutableRawBufferPointer(start: larger, count: size)
        return true
    }
}
