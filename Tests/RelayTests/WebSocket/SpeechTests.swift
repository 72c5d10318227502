import HeliographAPI
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("Speech of a viewer", .serialized)
struct SpeechTests {
    private typealias Opcode = WebSocketClient.Opcode

    /// A packet of 20 ms of silence.
    private static let packet: [UInt8] = [0xFC, 0xFF, 0xFE]

    /// Runs a relay with an agent that has a microphone, and a viewer that controls the device.
    private func withViewer(
        isOn: Bool = true,
        _ body: @escaping @Sendable (RunningRelay, LinkClient, WebSocketClient, UInt32) async throws -> Void
    ) async throws {
        let capabilities = InputCapabilities(
            backend: "none",
            problem: "no desktop",
            gamepads: isOn ? nil : ["xbox"],
            microphone: isOn
        )
        try await RunningRelay.runControlled(capabilities, configure: { $0.devices[0].hasMicrophone = isOn }, body)
    }

    private static func speak(_ packet: [UInt8] = packet, by viewer: WebSocketClient) async throws {
        try await viewer.send(Opcode.binary, SpeechMessage.bytes(packet))
    }

    private static func speech(_ link: LinkClient) async throws -> [UInt8] {
        try await link.first { if case .speech(let packet) = $0 { packet } else { nil } }
    }

    @Test("goes to the agent, and the relay shows who speaks and how late it is")
    func whole() async throws {
        try await withViewer { relay, link, viewer, _ in
            try await Self.speak(by: viewer)
            #expect(try await Self.speech(link) == Self.packet)
            try await link.send(.speechReport(SpeechReport(delay: 38, holes: 2)))
            let report = try await eventually("the report") {
                // A viewer who is silent for some seconds does not count as the speaker.
                try await Self.speak(by: viewer)
                let report = try await relay.broadcast()["microphone"]
                return report?["delayMs"] == .null ? nil : report
            }
            #expect(report["available"] == true && report["speaker"] == "local", "\(report)")
            #expect(report["delayMs"] == 38 && report["holes"] == 2, "\(report)")
            _ = try await viewer.first("the speaker") { $0.json["speaker"] == "local" ? true : nil }
            try await Self.speak([], by: viewer)
            _ = try await link.first { if case .speech([]) = $0 { true } else { nil } }
            #expect(try await relay.broadcast()["microphone"]?["speaker"] == .null)
        }
    }

    @Test("ends with control, with another controller, with the viewer, and after a second without a packet")
    func ends() async throws {
        try await withViewer { relay, link, viewer, session in
            try await Self.speak(by: viewer)
            #expect(try await Self.speech(link) == Self.packet)
            try await viewer.send(Opcode.binary, [1, 0, 0, 0])
            #expect(try await Self.speech(link) == [])
            try await viewer.control()
            try await Self.speak(by: viewer)
            #expect(try await Self.speech(link) == Self.packet)
            #expect(try await Self.speech(link) == [])
            try await Self.speak(by: viewer)
            #expect(try await Self.speech(link) == Self.packet)
            let other = try await WebSocketClient(relay, session: session)
            try await other.control(takes: true)
            #expect(try await Self.speech(link) == [])
            try await Self.speak(by: other)
            #expect(try await Self.speech(link) == Self.packet)
            try await other.close()
            #expect(try await Self.speech(link) == [])
        }
    }

    @Test("needs control, a microphone, and no more time than it has")
    func refused() async throws {
        try await withViewer { relay, _, viewer, session in
            let other = try await WebSocketClient(relay, session: session)
            try await Self.speak(by: other)
            #expect(try await other.event("refused")["reason"] == "not_controlling")
            try await other.close()
            // 120 ms each.
            for _ in 0..<10 { try await Self.speak([0xFF, 6] + Self.packet, by: viewer) }
            #expect(try await viewer.event("refused")["reason"] == "rate")
        }
        try await withViewer(isOn: false) { relay, _, viewer, _ in
            try await Self.speak(by: viewer)
            #expect(try await viewer.event("refused")["reason"] == "no_microphone")
            #expect(try await relay.broadcast()["microphone"] == .null)
        }
    }
}
