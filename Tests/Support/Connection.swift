import Foundation

/// A TCP connection to loopback that blocks.
package final class Connection: Sendable {
    package let descriptor: Int32

    /// - Parameter source: The loopback address that it connects from, as a number; 0 for the usual one.
    package init(port: Int, from source: UInt32 = 0) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let bound = source == 0 ? 0 : Self.with(source, port: 0) { bind(descriptor, $0, $1) }
        guard bound == 0, Self.with(0x7F00_0001, port: port, { connect(descriptor, $0, $1) }) == 0 else {
            let reason = String(cString: strerror(errno))
            Glibc.close(descriptor)
            throw NeverCame(description: "no connection to port \(port): \(reason)")
        }
    }

    /// One that has been accepted.
    package init(descriptor: Int32) { self.descriptor = descriptor }

    /// A socket that listens on a free port of loopback, and that port.
    ///
    /// - Parameter receiveBuffer: How many bytes of a connection the system takes in before they are read; nil for its
    ///   own choice.
    package static func listen(receiveBuffer: Int32? = nil) throws -> (descriptor: Int32, port: Int) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        if var receiveBuffer {
            setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout.size(ofValue: address))
        let outcome = with(0x7F00_0001, port: 0) { bind(listener, $0, $1) | Glibc.listen(listener, 16) }
        let named = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
        }
        guard outcome | named == 0 else {
            Glibc.close(listener)
            throw NeverCame(description: "no port of loopback to listen on: \(String(cString: strerror(errno)))")
        }
        return (listener, Int(UInt16(bigEndian: address.sin_port)))
    }

    private static func with(_ host: UInt32, port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32
    {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = host.bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    package func close() { Glibc.close(descriptor) }

    /// Closes it by a TCP reset.
    package func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        close()
    }

    package func send(_ bytes: [UInt8]) { _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

    /// Whether the other side has not ended it, or what it sent before is not read yet.
    package var isOpen: Bool {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR)
    }

    /// Returns exactly that many bytes, or `nil` at the end.
    package func read(exactly count: Int) -> [UInt8]? {
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

    /// Returns the available bytes, waiting at most `milliseconds`. Empty at the end and if nothing came.
    package func read(upTo count: Int, milliseconds: Int32) -> [UInt8] {
        var interest = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&interest, 1, milliseconds) > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { memory, initialized in
            initialized = max(0, recv(descriptor, memory.baseAddress, count, 0))
        }
    }
}
