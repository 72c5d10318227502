import Foundation
import TestSupport

/// A TCP connection to loopback that blocks.
final class Connection: Sendable {
    let descriptor: Int32

    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else {
            let reason = String(cString: strerror(errno))
            Glibc.close(descriptor)
            throw NeverCame(description: "no connection to port \(port): \(reason)")
        }
    }

    func close() { Glibc.close(descriptor) }

    /// Ends it by a TCP reset instead of in good order.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        close()
    }

    func send(_ bytes: [UInt8]) { _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

    /// Exactly that many bytes; nil at the end.
    func read(exactly count: Int) -> [UInt8]? {
        var filled = 0
        var isWhole = true
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { memory, initialized in
            while filled < count {
                let received = recv(descriptor, memory.baseAddress! + filled, count - filled, 0)
                guard received > 0 else {
                    isWhole = false
                    break
                }
                filled += received
            }
            initialized = filled
        }
        return isWhole ? bytes : nil
    }

    /// What is there, waiting for at most `milliseconds`; empty at the end and when nothing came.
    func read(upTo count: Int, milliseconds: Int32) -> [UInt8] {
        var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&interest, 1, milliseconds) > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { memory, initialized in
            initialized = max(0, recv(descriptor, memory.baseAddress, count, 0))
        }
    }
}
