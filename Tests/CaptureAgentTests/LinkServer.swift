import Glibc
import TestSupport
import Wire

/// The relay's end of one link, on a loopback port of its own.
final class LinkServer {
    private let listener: Int32
    private var connection: Int32 = -1
    private var decoder = PacketDecoder(accepting: .agentToRelay)
    let port: UInt16

    struct Failure: Error {
        var call: String
        var code = errno
    }

    /// - Parameter receiveBuffer: How many bytes the system takes in before they are read; nil for its own choice.
    init(receiveBuffer: Int32? = nil) throws {
        let (listener, port) = try Connection.listen(receiveBuffer: receiveBuffer)
        self.listener = listener
        self.port = UInt16(port)
        Self.limitWaiting(on: listener)
    }

    deinit {
        close(connection)
        close(listener)
    }

    /// Waits for the agent.
    func accept() throws {
        connection = Glibc.accept(listener, nil, nil)
        guard connection >= 0 else { throw Failure(call: "accept") }
        Self.limitWaiting(on: connection)
    }

    /// Bounds a failing test.
    private static func limitWaiting(on descriptor: Int32) {
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    func send(_ packet: Packet) {
        let bytes = packet.encoded()
        // What cannot be sent is missed by the test.
        _ = Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// The first value that `find` sees in a packet from now on; passes over the others.
    func next<Value>(_ what: String, _ find: (Packet) -> Value?) throws -> Value {
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
}
