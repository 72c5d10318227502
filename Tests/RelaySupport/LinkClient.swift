package import Media
import Relay
import Synchronization
import TestSupport
package import Wire

/// The agent's end of the link, driven by a test.
package final class LinkClient: Sendable {
    private struct Inbox {
        var decoder = PacketDecoder(accepting: .relayToAgent)
        /// Packets that were read while waiting for another one.
        var kept: [Packet] = []
        /// The request that each session's first keyframe must answer.
        var firstRequests: [SessionID: UInt32] = [:]
        /// Sessions whose first keyframe was sent since they became active.
        var begun: Set<SessionID> = []
        var active: Set<SessionID> = []

        /// Records a packet about the start or end of a session's pictures.
        ///
        /// - Returns: Whether it is one.
        mutating func note(_ packet: Packet) -> Bool {
            switch packet {
            case .keyframeRequest(let id, let request)
            where !begun.contains(id) || request <= firstRequests[id, default: 0]:
                // Sent again, it may come after its answer.
                if !begun.contains(id) { firstRequests[id] = request }
            case .sessionUpdate(let id, SessionUpdate(isActive: true)):
                active.insert(id)
            case .sessionUpdate(let id, SessionUpdate(isActive: false)):
                active.remove(id)
                begun.remove(id)
                firstRequests[id] = nil
            default:
                return false
            }
            return true
        }
    }

    private let connection: ByteClient
    private let inbox = Mutex(Inbox())

    package init(port: Int) async throws { connection = try await ByteClient(port: port) }

    /// Connects, sends HELLO and reads the relay's WELCOME.
    package convenience init(
        greeting relay: RunningRelay,
        device: String = "default",
        pid: Int32 = 4711,
        role: AgentRole = .primary,
        streaming: Bool = true
    ) async throws {
        try await self.init(port: relay.ports.agentLink)
        try await send(.hello(relay.hello(device: device, pid: pid, role: role)))
        guard case .welcome = try await next() else { throw NeverCame(description: "WELCOME did not come first") }
        if streaming { try await send(.status(.streaming)) }
    }

    /// Sends a packet. A session's first keyframe waits for its request and answers it.
    package func send(_ packet: Packet) async throws {
        guard case .accessUnit(let id, var unit) = packet, unit.flags.contains(.key), unit.keyframeRequest == 0,
            inbox.withLock({ !$0.begun.contains(id) })
        else { return try await connection.send(packet.encoded()) }
        unit.keyframeRequest = try await firstRequest(of: id)
        inbox.withLock { _ = $0.begun.insert(id) }
        try await connection.send(Packet.accessUnit(id, unit).encoded())
    }

    /// The request that the session's first keyframe has to answer.
    package func firstRequest(of id: SessionID) async throws -> UInt32 {
        try await wait("a request for pictures of session \(id)") { $0.firstRequests[id] }
    }

    /// Waits until the session is active, or is not active any more.
    package func wait(for id: SessionID, isActive: Bool) async throws {
        try await wait("session \(id) active: \(isActive)") { $0.active.contains(id) == isActive ? () : nil }
    }

    private func wait<Value>(_ what: String, _ condition: (Inbox) -> Value?) async throws -> Value {
        while true {
            if let value = inbox.withLock({ condition($0) }) { return value }
            switch try await take() {
            case .packet(let packet): inbox.withLock { $0.kept.append(packet) }
            case .order: break
            case .end: throw NeverCame(description: "\(what): the relay closed the link before")
            }
        }
    }

    package func send(bytes: [UInt8]) async throws { try await connection.send(bytes) }

    package func send(_ accessUnits: [AccessUnit], session: SessionID) async throws {
        for accessUnit in accessUnits { try await send(.accessUnit(session, accessUnit)) }
    }

    /// Returns the relay's next packet, or `nil` if it has closed the link. Skips requests for a session's first
    /// keyframe, and what starts and ends the session.
    package func next() async throws -> Packet? {
        let kept = inbox.withLock { $0.kept.isEmpty ? nil : $0.kept.removeFirst() }
        if let kept { return kept }
        while true {
            switch try await take() {
            case .packet(let packet): return packet
            case .order: break
            case .end: return nil
            }
        }
    }

    private enum Taken {
        case packet(Packet)
        /// Returns the packets about the start or end of a session's pictures.
        case order
        case end
    }

    private func take() async throws -> Taken {
        while true {
            if let packet = try inbox.withLock({ inbox throws(WireError) in try inbox.decoder.next() }) {
                return inbox.withLock { $0.note(packet) } ? .order : .packet(packet)
            }
            guard let bytes = try await connection.next() else { return .end }
            inbox.withLock { $0.decoder.append(bytes) }
        }
    }

    /// Returns the first result of `select` for the relay's next packets.
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
