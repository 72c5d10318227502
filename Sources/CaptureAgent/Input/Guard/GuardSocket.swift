import CLinux
import Glibc

/// An end of the connection between the agent and its guard: a socket that keeps packets apart and never blocks.
struct GuardSocket: Sendable {
    enum Packet {
        case message(GuardMessage)
        /// Nothing has come, or nothing that can be read.
        case none
        /// The other process has ended, or has closed its end.
        case ended
    }

    enum Sending {
        case sent
        /// The socket has no room. The message is lost.
        case noRoom
        /// The other end is gone.
        case gone
    }

    let descriptor: Int32

    /// Makes both ends, which child processes do not inherit.
    ///
    /// - Returns: `nil` and `errno` on failure.
    static func pair() -> (GuardSocket, GuardSocket)? {
        var ends: [Int32] = [-1, -1]
        let type = SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        guard socketpair(AF_UNIX, Int32(type), 0, &ends) == 0 else { return nil }
        return (GuardSocket(descriptor: ends[0]), GuardSocket(descriptor: ends[1]))
    }

    func send(_ message: GuardMessage) -> Sending {
        // A packet without bytes would look like the end.
        let bytes = [0] + message.bytes
        let sent = Glibc.send(descriptor, bytes, bytes.count, clinux_no_signal)
        if sent >= 0 { return .sent }
        return errno == EAGAIN || errno == EINTR ? .noRoom : .gone
    }

    func receive() -> Packet {
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        if count == 0 { return .ended }
        if count < 0 { return errno == EAGAIN || errno == EINTR ? .none : .ended }
        return GuardMessage(bytes: bytes.prefix(count).dropFirst()).map { .message($0) } ?? .none
    }

    func close() { Glibc.close(descriptor) }
}
