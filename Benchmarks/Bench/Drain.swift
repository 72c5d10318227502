import Foundation
import Synchronization
import TestSupport

/// Reads many connections as fast as bytes come, in one thread, and counts them.
final class Drain: Sendable {
    private let bytes = Atomic(0)
    private let isEnding = Atomic(false)
    private let done = DispatchSemaphore(value: 0)

    init(_ descriptors: [Int32]) {
        Thread { [self] in
            read(descriptors)
            done.signal()
        }.start()
    }

    var count: Int { bytes.load(ordering: .relaxed) }

    func end() {
        isEnding.store(true, ordering: .relaxed)
        done.wait()
    }

    private func read(_ descriptors: [Int32]) {
        var interests = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { buffer.deallocate() }
        while !isEnding.load(ordering: .relaxed) {
            guard poll(&interests, nfds_t(interests.count), 20) > 0 else { continue }
            for index in interests.indices where interests[index].revents != 0 {
                let received = recv(interests[index].fd, buffer.baseAddress, buffer.count, 0)
                // poll(2) skips a negative descriptor.
                if received > 0 { bytes.add(received, ordering: .relaxed) } else { interests[index].fd = -1 }
            }
        }
    }
}
