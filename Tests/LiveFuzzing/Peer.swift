import Foundation
import TestSupport

/// A connection to the relay that never blocks. A ``Loop`` transfers its bytes.
final class Peer {
    /// How many bytes the kernel keeps for a peer that does not read. It is small, so that the relay soon has to keep
    /// the rest.
    private static let receiveBuffer: CInt = 16 << 10
    /// How often a peer reads in one turn, so that none keeps the others waiting.
    private static let mostReads = 16

    private var connection: Connection?
    private var outgoing: [UInt8] = []
    private var sent = 0
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)
    private let received: ([UInt8]) -> Void

    /// Whether the relay has ended it.
    private(set) var isEnded = false
    /// Whether it reads what arrives. The kernel keeps the bytes for a peer that does not read.
    var reads = true

    /// - Parameters:
    ///   - source: The loopback address that it connects from, as a number; 0 for the default.
    ///   - isSmall: Whether the kernel keeps little for it.
    ///   - received: Receives what has arrived.
    init(port: Int, from source: UInt32 = 0, isSmall: Bool = false, received: @escaping ([UInt8]) -> Void) throws {
        self.received = received
        let connection = try Connection(port: port, from: source)
        self.connection = connection
        var (size, on) = (Self.receiveBuffer, CInt(1))
        let length = socklen_t(MemoryLayout<CInt>.size)
        if isSmall { setsockopt(connection.descriptor, SOL_SOCKET, SO_RCVBUF, &size, length) }
        // What is sent at once leaves at once, as an agent's bytes do.
        setsockopt(connection.descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &on, length)
    }

    deinit { connection?.close() }

    /// Whether neither side has ended it.
    var isOpen: Bool { connection != nil && !isEnded }

    /// Whether everything that was sent has been passed to the kernel.
    var isFlushed: Bool { outgoing.isEmpty }

    func send(_ bytes: [UInt8]) {
        guard isOpen else { return }
        outgoing += bytes
        flush()
    }

    /// Closes the connection cleanly.
    func close() {
        connection?.close()
        connection = nil
    }

    /// Ends the connection with a TCP reset.
    func reset() {
        connection?.reset()
        connection = nil
    }

    /// Closes only the sending side.
    func closeOutput() {
        guard let connection else { return }
        shutdown(connection.descriptor, CInt(SHUT_WR))
    }

    /// The events that a ``Loop`` waits for; `nil` once the connection has ended.
    var interest: pollfd? {
        guard let connection, !isEnded else { return nil }
        let events = (reads ? POLLIN : 0) | (outgoing.isEmpty ? 0 : POLLOUT)
        return pollfd(fd: connection.descriptor, events: Int16(events), revents: 0)
    }

    /// Transfers the bytes that can be transferred now.
    func ready(_ events: Int16) {
        if events & Int16(POLLOUT) != 0 { flush() }
        // A peer that does not read still learns that the connection has ended.
        if events & Int16(POLLIN | POLLERR | POLLHUP) != 0 { read() }
    }

    private func flush() {
        guard let connection else { return }
        while sent < outgoing.count {
            let count = outgoing.withUnsafeBytes {
                Glibc.send(
                    connection.descriptor,
                    $0.baseAddress! + sent,
                    $0.count - sent,
                    CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)
                )
            }
            guard count > 0 else {
                // The rest of a broken connection is discarded.
                if errno != EAGAIN, errno != EINTR { (outgoing, sent) = ([], 0) }
                return
            }
            sent += count
        }
        (outgoing, sent) = ([], 0)
    }

    private func read() {
        for _ in 0..<Self.mostReads {
            guard let connection, !isEnded else { return }
            let count = recv(connection.descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT))
            if count > 0 {
                received(Array(buffer[..<count]))
            } else {
                isEnded = count == 0 || errno != EAGAIN && errno != EINTR
                return
            }
        }
    }
}
