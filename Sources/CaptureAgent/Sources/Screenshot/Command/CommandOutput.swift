import Glibc

/// A program's output, in memory that is reused for the next run.
package final class CommandOutput {
    /// The smallest number of bytes to read at once.
    private static let step = 1 << 16

    private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var count = 0
    /// The largest number of bytes to keep.
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
        /// There is nothing more to read for now.
        case empty
        case ended
        /// The output exceeds the limit or the available memory.
        case full
    }

    /// Reads everything available from a non-blocking descriptor.
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
