package import Media
import Relay
import Synchronization
import TestSupport
package import Wire

/// The agent's end of the link, driven by a test.
package final class LinkClient: Sendable {
    private struct Inbox {
        var decoder = PacketDecoder(accepting: .relayToAgent)
    }

    private let connection: ByteClient
    private let inbox = Mutex(Inbox())

    package init(port: Int) async throws { connection = try await ByteClient(port: port) }

    /// Connects and says HELLO; the relay's WELCOME is taken.
    package convenience init(
        greeting relay: RunningRelay,
        device: String = "default",
        pid: Int32 = 4711,
        streaming: Bool = true
    ) async throws {
        try await self.init(port: relay.ports.agentLink)
        try await send(.hello(relay.hello(device: device, pid: pid)))
        guard case .welcome = try await next() else { throw NeverCame(description: "WELCOME did not come first") }
        if streaming { try await send(.status(.streaming)) }
    }

    package func send(_ packet: Packet) async throws { try await connection.send(packet.encoded()) }

    package func send(bytes: [UInt8]) async throws { try await connection.send(bytes) }

    package func send(_ accessUnits: [AccessUnit], session: SessionID) async throws {
        for accessUnit in accessUnits { try await send(.accessUnit(session, accessUnit)) }
    }

    /// The relay's next packet, nil when it has closed the link.
    package func next() async throws -> Packet? {
        while true {
            if let packet = try inbox.withLock({ inbox throws(WireError) in try inbox.decoder.next() }) {
                return packet
            }
            guard let bytes = try await connection.next() else { return nil }
            inbox.withLock { $0.decoder.append(bytes) }
        }
    }

    /// The relay's next packet that `select` makes something of.
    package func first<Value>(_ select: (Packet) -> Value?) async throws -> Value {
        while let packet = try await next() {
            if let value = select(packet) { return value }
        }
        throw NeverCame(description: "the relay closed the link before the packet came")
    }

    /// Waits until the relay has closed the link.
    package func waitForEnd() async throws {
        while try await next() != nil {}
    }

    package func close() async throws { try await connection.close() }
}

extension SourceStatus {
    package static let streaming = SourceStatus(
        state: .streaming,
        size: PictureSize(width: 640, height: 360),
        timings: ["openMs": 12]
    )
}
