import HeliographAPI
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("A viewer's gamepad", .serialized)
struct GamepadTests {
    private typealias Opcode = WebSocketClient.Opcode

    private static let pressed = GamepadState(buttons: [.south, .up], leftTrigger: 200)

    /// Runs a relay with an agent that can make gamepads and nothing else, and a viewer that controls the device.
    private func withViewer(
        _ body: @escaping @Sendable (RunningRelay, LinkClient, WebSocketClient, UInt32) async throws -> Void
    ) async throws {
        let capabilities = InputCapabilities(backend: "none", problem: "no desktop", gamepads: ["xbox"])
        try await RunningRelay.runControlled(capabilities, body)
    }

    private static func send(_ message: GamepadMessage, by viewer: WebSocketClient) async throws {
        try await viewer.send(Opcode.binary, message.bytes)
    }

    private static func order(_ link: LinkClient) async throws -> GamepadOrder {
        try await link.first { if case .gamepad(let order) = $0 { order } else { nil } }
    }

    private static func event(_ viewer: WebSocketClient) async throws -> JSONValue { try await viewer.event("gamepad") }

    @Test("goes to the agent, and its feedback comes back")
    func whole() async throws {
        try await withViewer { _, link, viewer, _ in
            try await Self.send(.connect(.xbox), by: viewer)
            let connect = try await Self.order(link)
            #expect(connect.action == .connect(.xbox))
            try await link.send(.gamepadFeedback(GamepadReport(id: connect.id, .connected(.xbox))))
            #expect(try await Self.event(viewer)["gamepad"] == "xbox")
            try await Self.send(.state(Self.pressed), by: viewer)
            #expect(try await Self.order(link) == GamepadOrder(id: connect.id, .state(Self.pressed)))
            let feedback = GamepadFeedback(
                strong: 65535,
                weak: 2,
                lightbar: GamepadFeedback.Colour(red: 1, green: 2, blue: 3),
                playerLights: 4,
                leftTrigger: [UInt8](repeating: 9, count: 11)
            )
            try await link.send(.gamepadFeedback(GamepadReport(id: connect.id, .feedback(feedback))))
            let event = try await Self.event(viewer)
            #expect(event["strong"] == 65535 && event["weak"] == 2 && event["lightbar"] == [1, 2, 3])
            #expect(event["playerLights"] == 4 && event["rightTrigger"] == [] && event["detail"] == JSONValue.null)
            try await link.send(.gamepadFeedback(GamepadReport(id: connect.id, .failed("unplugged"))))
            let end = try await Self.event(viewer)
            #expect(end["gamepad"] == JSONValue.null && end["detail"] == "unplugged" && end["strong"] == 0)
        }
    }

    @Test("ends with the viewer, with its control, and when another viewer takes over")
    func ends() async throws {
        try await withViewer { relay, link, viewer, session in
            try await Self.send(.connect(nil), by: viewer)
            let first = try await Self.order(link)
            try await Self.send(.state(Self.pressed), by: viewer)
            _ = try await Self.order(link)
            try await viewer.send(Opcode.binary, [1, 0, 0, 0])
            #expect(try await Self.order(link) == GamepadOrder(id: first.id, .disconnect))
            try await viewer.control()
            try await Self.send(.connect(nil), by: viewer)
            let second = try await Self.order(link)
            #expect(second.id != first.id)
            let other = try await WebSocketClient(relay, session: session)
            try await other.control(takes: true)
            #expect(try await Self.order(link) == GamepadOrder(id: second.id, .disconnect))
            try await Self.send(.connect(nil), by: other)
            let third = try await Self.order(link)
            try await other.close()
            #expect(try await Self.order(link) == GamepadOrder(id: third.id, .disconnect))
        }
    }

    @Test("needs control, and to be connected")
    func refused() async throws {
        try await withViewer { relay, _, viewer, session in
            try await Self.send(.state(Self.pressed), by: viewer)
            #expect(try await viewer.event("refused")["reason"] == "no_gamepad")
            let other = try await WebSocketClient(relay, session: session)
            try await Self.send(.connect(nil), by: other)
            #expect(try await other.event("refused")["reason"] == "not_controlling")
            // A disconnect may always come late.
            try await Self.send(.disconnect, by: other)
            try await other.send(Opcode.binary, [0x1F])
            #expect(try await other.event("refused")["reason"] == "unknown")
            try await other.close()
        }
    }

    @Test("returns after the agent was lost")
    func agentLost() async throws {
        try await withViewer { relay, link, viewer, _ in
            try await Self.send(.connect(.xbox), by: viewer)
            let first = try await Self.order(link)
            try await link.close()
            #expect(try await Self.event(viewer)["gamepad"] == JSONValue.null)
            let next = try await LinkClient(greeting: relay)
            let again = try await Self.order(next)
            #expect(again.action == .connect(.xbox) && again.id != first.id)
            try await next.close()
        }
    }
}
