import Wire

/// A client that connects to a relay like an agent.
package enum FakeAgent {
    /// Connects to the agents' port and sends HELLO, so that it replaces the broadcast's agent.
    ///
    /// - Returns: Once the relay has answered. The answer is lost.
    package static func takeOver(port: Int, token: String) throws -> Connection {
        let connection = try greet(port: port, token: token)
        _ = connection.read(upTo: 64 << 10, milliseconds: 2_000)
        return connection
    }

    /// Does the same, but the caller reads the relay's answer.
    package static func greet(port: Int, token: String) throws -> Connection {
        let connection = try Connection(port: port)
        let packet = Packet.hello(
            Hello(token: token, device: "default", source: "test-pattern", pid: .max, release: "fake")
        )
        connection.send(packet.encoded())
        return connection
    }

    package static func garbage(_ count: Int, _ random: inout some RandomNumberGenerator) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    /// The start of an access unit whose rest never comes.
    package static let halfPacket: [UInt8] = {
        // Magic and version, ACCESS_UNIT, flags, session 1, 10,000 bytes.
        let header: [UInt8] = [0x48, 0x4C, 0x47, 0x57, 1, 67, 0, 0, 0, 0, 0, 1, 0, 0, 0x27, 0x10]
        return header + [UInt8](repeating: 0, count: 100)
    }()
}
