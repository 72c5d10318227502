import CCrowd
import Foundation
import Synchronization
import TestSupport

/// A viewer of each of many sessions' ports, in scrcpy's framing, read by one thread that counts pictures.
final class Gallery: @unchecked Sendable {
    // Unchecked because viewers belong to the thread until it has been joined; the counts are behind a lock.

    private let viewers: UnsafeMutableBufferPointer<ccrowd_viewer>
    private let descriptor: Int32
    private let pictures: Mutex<[Int]>
    private let isEnding = Atomic(false)
    private let done = DispatchSemaphore(value: 0)

    init(ports: [Int]) throws {
        viewers = .allocate(capacity: ports.count)
        viewers.initialize(repeating: ccrowd_viewer())
        for (index, port) in ports.enumerated() { viewers[index].socket = try Connection(port: port).descriptor }
        pictures = Mutex(Array(repeating: 0, count: ports.count))
        descriptor = ccrowd_open(viewers.baseAddress, UInt32(ports.count))
        guard descriptor >= 0 else { throw BenchError(description: "epoll: \(String(cString: strerror(errno)))") }
        Thread { [self] in
            read()
            done.signal()
        }.start()
    }

    /// Pictures of each viewer since the beginning.
    var counts: [Int] { pictures.withLock { $0 } }

    func end() {
        isEnding.store(true, ordering: .relaxed)
        done.wait()
        for viewer in viewers { close(viewer.socket) }
        close(descriptor)
        viewers.deallocate()
    }

    private func read() {
        var delays: [Int64] = [0]
        while !isEnding.load(ordering: .relaxed) {
            _ = ccrowd_read(descriptor, viewers.baseAddress, 20, 0, &delays, delays.count)
            pictures.withLock { pictures in
                for index in viewers.indices { pictures[index] = Int(viewers[index].pictures) }
            }
        }
    }
}
