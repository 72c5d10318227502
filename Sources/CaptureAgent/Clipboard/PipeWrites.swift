import Glibc

/// Contents on their way to programs that paste, over pipes. A value of one thread, which must end it by ``close()``.
package struct PipeWrites {
    private struct Write {
        let id: UInt32
        let descriptor: Int32
        let bytes: [UInt8]
        var count = 0
        var deadline: UInt64
    }

    /// A write that has ended.
    package struct Ended: Equatable {
        package let id: UInt32
        /// Whether the program has all bytes.
        package let isWhole: Bool
    }

    /// The most programs that are served at the same time.
    private static let capacity = 16

    private var writes: [Write] = []
    /// Writes that made room for newer ones.
    private var dropped: [Ended] = []

    package init() {}

    var interests: [Poll.Interest] { writes.map { Poll.Interest($0.descriptor, events: POLLOUT) } }

    /// When ``proceed()`` must be called although no pipe takes bytes, in monotonic ns: a program that does not read is
    /// given up then.
    package var deadline: UInt64? { dropped.isEmpty ? writes.map(\.deadline).min() : 0 }

    /// Adds a write. If there are too many, the oldest one ends.
    ///
    /// - Parameter descriptor: The pipe's end; this closes it.
    package mutating func add(_ bytes: [UInt8], to descriptor: Int32, id: UInt32 = 0) {
        if writes.count == Self.capacity {
            let oldest = writes.removeFirst()
            Glibc.close(oldest.descriptor)
            dropped.append(Ended(id: oldest.id, isWhole: false))
        }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL, 0) | O_NONBLOCK)
        let deadline = MonotonicClock.now + ClipboardPatience.pause
        writes.append(Write(id: id, descriptor: descriptor, bytes: bytes, deadline: deadline))
    }

    /// Writes what the pipes take.
    ///
    /// - Returns: The writes that have ended.
    package mutating func proceed() -> [Ended] {
        var ended = dropped
        dropped = []
        for index in writes.indices.reversed() {
            guard let isWhole = Self.proceed(&writes[index]) else { continue }
            ended.append(Ended(id: writes[index].id, isWhole: isWhole))
            Glibc.close(writes.remove(at: index).descriptor)
        }
        return ended
    }

    package mutating func close() {
        for write in writes { Glibc.close(write.descriptor) }
        writes = []
    }

    /// Writes what a pipe takes.
    ///
    /// - Returns: Whether all is written; `nil` if it has not ended.
    private static func proceed(_ write: inout Write) -> Bool? {
        while write.count < write.bytes.count {
            let result = write.bytes.withUnsafeBytes { bytes in
                Glibc.write(write.descriptor, bytes.baseAddress?.advanced(by: write.count), bytes.count - write.count)
            }
            if result > 0 {
                write.count += result
                write.deadline = MonotonicClock.now + ClipboardPatience.pause
            } else if result < 0, errno == EAGAIN {
                return MonotonicClock.now < write.deadline ? nil : false
            } else if result == 0 || errno != EINTR {
                return false
            }
        }
        return true
    }
}
