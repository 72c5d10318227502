import CCrowd
import Foundation
import Synchronization
import TestSupport

/// Viewers of one port in scrcpy's framing, read by one thread: most as fast as pictures come, some slowly, some never.
final class Crowd: @unchecked Sendable {
    // Unchecked because viewers belong to the thread until it has been joined; the rest is behind a lock or constant.

    struct Size {
        var viewers = 500
        /// How many of them never read.
        var silent = 20
        /// How many of them read at `slowRate`.
        var slow = 20
        /// Bytes per second.
        var slowRate = 25_000

        var healthy: Int { viewers - silent - slow }
    }

    private static let slowInterval = 100_000_000 as Int64

    let size: Size
    /// The monotonic instant of PTS 0, ns.
    private let epoch: Int64
    private let viewers: UnsafeMutableBufferPointer<ccrowd_viewer>
    private let descriptor: Int32
    /// From a picture's PTS to its last byte at a healthy viewer, ns, since ``takeDelays()``.
    private let delays = Mutex<[Int64]>([])
    private let isEnding = Atomic(false)
    private let done = DispatchSemaphore(value: 0)

    init(_ size: Size, port: Int, epoch: Int64) throws {
        self.size = size
        self.epoch = epoch
        viewers = .allocate(capacity: size.viewers)
        viewers.initialize(repeating: ccrowd_viewer())
        for index in viewers.indices { viewers[index].socket = try Connection(port: port).descriptor }
        descriptor = ccrowd_open(viewers.baseAddress, UInt32(size.healthy))
        guard descriptor >= 0 else { throw NeverCame(description: "epoll: \(String(cString: strerror(errno)))") }
        Thread { [self] in
            read()
            done.signal()
        }.start()
    }

    /// What has been measured since the last call.
    func takeDelays() -> [Int64] {
        delays.withLock { delays in
            defer { delays = [] }
            return delays
        }
    }

    struct Outcome {
        /// Pictures of each healthy viewer.
        var pictures: [Int]
        /// Whether the PTS of each increase.
        var isOrdered: Bool
        /// How many connections of silent and slow viewers the other side has closed.
        var closed: Int
    }

    /// Stops reading and closes all connections.
    func end() -> Outcome {
        isEnding.store(true, ordering: .relaxed)
        done.wait()
        let healthy = viewers[..<size.healthy]
        let outcome = Outcome(
            pictures: healthy.map { Int($0.pictures) },
            isOrdered: healthy.allSatisfy(\.is_ordered),
            closed: viewers[size.healthy...].count { Self.isClosed($0.socket) }
        )
        for viewer in viewers { close(viewer.socket) }
        close(descriptor)
        viewers.deallocate()
        return outcome
    }

    /// Whether the other side has closed it, even if bytes are still unread.
    private static func isClosed(_ descriptor: Int32) -> Bool {
        // POLLRDHUP, which glibc hides from Swift.
        var interest = pollfd(fd: descriptor, events: 0x2000, revents: 0)
        return Glibc.poll(&interest, 1, 0) > 0
    }

    // MARK: - The thread

    private func read() {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        let found = UnsafeMutableBufferPointer<Int64>.allocate(capacity: 1 << 16)
        defer {
            buffer.deallocate()
            found.deallocate()
        }
        var nextSlow = monotonicNow()
        while !isEnding.load(ordering: .relaxed) {
            let count = ccrowd_read(descriptor, viewers.baseAddress, 20, epoch, found.baseAddress, found.count)
            if count > 0 { delays.withLock { $0 += found[..<count] } }
            if monotonicNow() >= nextSlow {
                nextSlow += Self.slowInterval
                readSlowly(into: buffer)
            }
        }
    }

    private func readSlowly(into buffer: UnsafeMutableRawBufferPointer) {
        let share = size.slowRate * Int(Self.slowInterval) / 1_000_000_000
        for viewer in viewers[size.healthy..<(size.healthy + size.slow)] {
            recv(viewer.socket, buffer.baseAddress, share, Int32(MSG_DONTWAIT))
        }
    }
}
