import CLinux
import Glibc

/// A TCP connection to the relay. One thread may read while another writes.
package final class LinkSocket: Sendable {
    /// The reason why the connection does not work.
    package enum Failure: Error, CustomStringConvertible {
        case unreachable(String)
        case closed
        case broken(String)
        case timeout
        /// The event that ends the wait was set.
        case stopped

        package var description: String {
            switch self {
            case .unreachable(let reason): "cannot connect: \(reason)"
            case .closed: "the relay closed the link"
            case .broken(let reason): reason
            case .timeout: "the relay did not answer in time"
            case .stopped: "the agent is ending"
            }
        }
    }

    private let descriptor: Int32

    /// Connects to a numeric IPv4 address.
    ///
    /// - Parameter deadline: In monotonic ns.
    init(host: String, port: UInt16, until deadline: UInt64, stop: Event) throws(Failure) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        guard inet_pton(AF_INET, host, &address.sin_addr) == 1 else {
            throw .unreachable("\(host) is not a numeric IPv4 address")
        }
        // Non-blocking, because a full backlog would hold a blocking connect for minutes.
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        descriptor = socket(AF_INET, Int32(type), 0)
        guard descriptor >= 0 else {
            let reason = String(cString: strerror(errno))
            let isShortage = errno == EMFILE || errno == ENFILE
            throw .unreachable(isShortage ? ResourceShortage.descriptors(reason).description : reason)
        }
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        // `deinit` closes the descriptor, because all stored properties are set.
        if connected != 0 {
            guard errno == EINPROGRESS else { throw .unreachable(String(cString: strerror(errno))) }
            try waitReady(for: POLLOUT, until: deadline, stop: stop)
            var failure: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failure, &length)
            guard failure == 0 else { throw .unreachable(String(cString: strerror(failure))) }
        }
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit {
        close(descriptor)
    }

    /// Waits for bytes and returns at most `limit` of them.
    ///
    /// - Parameter deadline: Monotonic ns; `nil` for none.
    /// - Throws: `.closed` at the end of the stream.
    func read(limit: Int, until deadline: UInt64?, stop: Event) throws(Failure) -> [UInt8] {
        while true {
            try waitReady(for: POLLIN, until: deadline, stop: stop)
            var result = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: limit) { memory, count in
                result = recv(descriptor, memory.baseAddress, memory.count, 0)
                count = max(0, result)
            }
            if result > 0 { return bytes }
            if result == 0 { throw .closed }
            if errno != EAGAIN, errno != EINTR { throw .broken(String(cString: strerror(errno))) }
        }
    }

    /// Sends all of `bytes`.
    func write(_ bytes: [UInt8], stop: Event) throws(Failure) {
        var sent = try writeAvailable(bytes[...])
        while sent < bytes.count {
            try waitReady(for: POLLOUT, until: nil, stop: stop)
            sent += try writeAvailable(bytes[sent...])
        }
    }

    /// Sends as much of `bytes` as the connection accepts without waiting.
    ///
    /// - Returns: The number of bytes sent.
    func writeAvailable(_ bytes: ArraySlice<UInt8>) throws(Failure) -> Int {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { memory in
                send(
                    descriptor,
                    memory.baseAddress! + sent,
                    memory.count - sent,
                    clinux_no_signal
                )
            }
            if count >= 0 {
                sent += count
            } else if errno == EAGAIN {
                break
            } else if errno != EINTR {
                throw .broken(String(cString: strerror(errno)))
            }
        }
        return sent
    }

    /// Ends the connection, so that a blocked `read` returns.
    func shutDown() {
        Glibc.shutdown(descriptor, Int32(SHUT_RDWR))
    }

    private func waitReady(for events: Int32, until deadline: UInt64?, stop: Event) throws(Failure) {
        while true {
            let now = MonotonicClock.now
            let timeout = deadline.map { $0 > now ? $0 - now : 0 }
            let ready = Poll.wait(
                for: [Poll.Interest(stop.descriptor), Poll.Interest(descriptor, events: events)],
                timeout: timeout
            )
            if ready[0] { throw .stopped }
            if ready[1] { return }
            if let deadline, MonotonicClock.now >= deadline { throw .timeout }
        }
    }
}
