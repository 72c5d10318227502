import HeliographClient
import Testing

@Suite("When a program connects again")
struct ReconnectionTests {
    private static func pause(_ policy: inout Reconnection, _ loss: Reconnection.Loss) -> Duration? {
        if case .retry(let pause, _) = policy.next(after: loss, url: "http://relay") { pause } else { nil }
    }

    private static func end(_ loss: Reconnection.Loss, mayReturn: Bool = true) -> RelayError.Kind? {
        var policy = Reconnection(mayReturn: mayReturn)
        if case .end(let error) = policy.next(after: loss, url: "http://relay") { return error.kind }
        return nil
    }

    private static func refusal(_ code: String) -> Reconnection.Loss {
        .failed(RelayError(.refused, "for a test", code: code))
    }

    @Test("it waits longer each time, and not after it was connected")
    func pauses() {
        var policy = Reconnection(mayReturn: true)
        let tries = (0..<7).map { _ in Self.pause(&policy, .lost) }
        #expect(tries == [.seconds(0.5), .seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(8), .seconds(8)])
        policy.succeeded()
        #expect(Self.pause(&policy, .closed(code: 1001, reason: "")) == .seconds(0.5))
    }

    @Test("it tries again after what may pass", arguments: [1000, 1001, 1005, 1013, 4001] as [UInt16])
    func temporary(_ code: UInt16) { #expect(Self.end(.closed(code: code, reason: "")) == nil) }

    @Test("it ends after a close that says that the program is wrong", arguments: [1002, 1007, 1008, 1009] as [UInt16])
    func wrong(_ code: UInt16) { #expect(Self.end(.closed(code: code, reason: "")) == .notUnderstood) }

    @Test("it ends with a session that has an id only, and waits for one with a name")
    func sessions() {
        #expect(Self.end(Self.refusal("unknown_session"), mayReturn: false) == .ended)
        #expect(Self.end(Self.refusal("unknown_session"), mayReturn: true) == nil)
    }

    @Test(
        "it ends if it has no right, or if the certificate is another",
        arguments: ["missing_key", "wrong_key", "forbidden_device", "forbidden_origin", "unknown_device"]
    )
    func refused(_ code: String) {
        #expect(Self.end(Self.refusal(code)) == .refused)
        #expect(Self.end(.failed(RelayError(.untrusted, "for a test"))) == .untrusted)
    }

    @Test("it waits for room, and for a relay that is being started", arguments: ["too_many_viewers", "draining"])
    func room(_ code: String) {
        #expect(Self.end(Self.refusal(code)) == nil)
        #expect(Self.end(.failed(RelayError(.unreachable, "for a test"))) == nil)
    }
}
