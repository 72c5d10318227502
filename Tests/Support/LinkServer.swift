import Glibc
package import Wire

/// The relay's end of an agent's link, on a separate loopback port. Used in one thread.
package final class LinkServer {
    private let listener: Int32
    private var connection: Int32 = -1
    private var decoder = PacketDecoder(accepting: .agentToRelay)
    package let port: UInt16

    package struct Failure: Error {
        package var call: String
        package var code = errno
    }

    /// - Parameter receiveBuffer: How many bytes the system takes in before they are read; nil for its own choice.
    package init(receiveBuffer: Int32? = nil) throws {
        let (listener, port) = try Connection.listen(receiveBuffer: receiveBuffer)
        self.listener = listener
        self.port = UInt16(port)
        Self.limitWaiting(on: listener)
    }

    deinit {
        close(connection)
        close(listener)
    }

    /// Waits until an agent is ready to be accepted, while `condition` holds.
    ///
    /// - Returns: Whether there is one.
    package func waitForCaller(while condition: () -> Bool) -> Bool {
        var interest = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        while poll(&interest, 1, 20) == 0 {
            if !condition() { return false }
        }
        return true
    }

    /// Waits for the agent. Hangs up on the former one, if there is one.
    package func accept() throws {
        hangUp()
        connection = Glibc.accept(listener, nil, nil)
        guard connection >= 0 else { throw Failure(call: "accept") }
        Self.limitWaiting(on: connection)
    }

    /// Closes the link.
    package func hangUp() {
        if connection >= 0 {
            // A program that another test has started meanwhile may have inherited the link, and keep it open.
            shutdown(connection, Int32(SHUT_RDWR))
            close(connection)
        }
        connection = -1
        decoder = PacketDecoder(accepting: .agentToRelay)
    }

    /// The limit of a failing test.
    private static func limitWaiting(on descriptor: Int32) {
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    package func send(_ packet: Packet) {
        let bytes = packet.encoded()
        // If this fails, the test notices the missing packet.
        _ = Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Returns the first result of `find` for the packets from now on; skips the others.
    package func next<Value>(_ what: String, _ find: (Packet) -> Value?) throws -> Value {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            while let packet = try decoder.next() {
                if let value = find(packet) { return value }
            }
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { throw NeverCame(description: what) }
            decoder.append(Array(buffer[..<count]))
        }
    }

    /// Reads to the end of the link, and returns how many bytes came. What ``next(_:_:)`` has read does not count.
    package func countBytesToEnd() -> Int {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var total = 0
        while true {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return total }
            total += count
        }
    }
}
