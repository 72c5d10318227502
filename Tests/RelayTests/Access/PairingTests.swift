import Access
import Foundation
import Relay
import Testing

@Suite("Pairing")
struct PairingTests {
    /// A client, which knows a PIN or another one.
    private struct Client {
        let certificate: Fingerprint
        let exchange: SPAKE2.Exchange

        init(_ number: UInt8, _ pin: PairingPIN) throws {
            certificate = Fingerprint(ofCertificate: [number])
            exchange = try #require(pin.exchange(as: .a, client: certificate, relay: PairingTests.relay))
        }

        func begin(_ pairing: Pairing, _ now: ContinuousClock.Instant) throws -> SPAKE2.Confirmations {
            let share = try pairing.begin(
                exchange.share,
                from: certificate,
                to: PairingTests.relay,
                named: "laptop",
                now: now
            )
            return try #require(exchange.confirmations(with: share))
        }
    }

    private static let relay = Fingerprint(ofCertificate: [0])
    private static let terms = KeyRing.Terms(.controller, devices: ["left"])

    private let pairing = Pairing()
    private let start = ContinuousClock.now
    /// The operator's key.
    private let boss: KeyRing.Entry

    init() throws {
        var ring = KeyRing()
        let key = try ring.make("boss", KeyRing.Terms(.operator), at: .distantPast)
        boss = try #require(ring.entry(of: key))
    }

    private func arm() -> PairingPIN { pairing.arm(Self.terms, length: 6, by: boss, now: start).pin }

    /// A PIN that is not this one.
    private static func other(than pin: PairingPIN) throws -> PairingPIN {
        try #require(PairingPIN(String(pin.text.dropLast()) + (pin.text.last == "0" ? "1" : "0")))
    }

    private func outcome() -> Pairing.Outcome? { pairing.status(now: start)?.outcome }

    @Test("is refused until a PIN is armed")
    func unarmed() throws {
        #expect(outcome() == nil)
        let client = try Client(1, .random(length: 6))
        #expect(throws: Pairing.Refusal.notArmed) { try client.begin(pairing, start) }
        #expect(throws: Pairing.Refusal.notArmed) { try pairing.confirm([], from: client.certificate, now: start) }
    }

    @Test("a client that knows the PIN pairs, once, and the relay proves that it knows the PIN, too")
    func pairs() throws {
        let client = try Client(1, arm())
        #expect(outcome() == .armed)
        let confirmations = try client.begin(pairing, start)
        let proved = try pairing.confirm(confirmations.own, from: client.certificate, now: start)
        #expect(confirmations.confirm(proved.proof))
        #expect(proved.name == "laptop" && proved.terms == Self.terms && proved.armer == boss)
        #expect(outcome() == .proved, "it has not paired before it is kept")
        pairing.finish(proved, as: "laptop-2")
        #expect(outcome() == .paired("laptop-2") && pairing.status(now: start)?.end == nil)
        #expect(throws: Pairing.Refusal.notArmed) { try client.begin(pairing, start) }
        #expect(throws: Pairing.Refusal.notArmed) {
            try pairing.confirm(confirmations.own, from: client.certificate, now: start)
        }
    }

    @Test("a wrong PIN is burnt, also for those who know it")
    func wrong() throws {
        let pin = arm()
        let stranger = try Client(1, Self.other(than: pin))
        let confirmations = try stranger.begin(pairing, start)
        #expect(throws: Pairing.Refusal.wrongPIN) {
            try pairing.confirm(confirmations.own, from: stranger.certificate, now: start)
        }
        #expect(outcome() == .wrongPIN)
        let client = try Client(2, pin)
        #expect(throws: Pairing.Refusal.notArmed) { try client.begin(pairing, start) }
    }

    @Test("a proof without a share, of another client, or too late is none, and burns nothing")
    func order() throws {
        let pin = arm()
        let (client, other) = (try Client(1, pin), try Client(2, pin))
        #expect(throws: Pairing.Refusal.noShare) { try pairing.confirm([], from: client.certificate, now: start) }
        let confirmations = try client.begin(pairing, start)
        #expect(throws: Pairing.Refusal.noShare) {
            try pairing.confirm(confirmations.own, from: other.certificate, now: start)
        }
        #expect(throws: Pairing.Refusal.noShare) {
            try pairing.confirm(confirmations.own, from: client.certificate, now: start + Pairing.attemptTime)
        }
        let again = try client.begin(pairing, start + Pairing.attemptTime)
        _ = try pairing.confirm(again.own, from: client.certificate, now: start + Pairing.attemptTime)
    }

    @Test("one client at a time tries; it may begin again, and another one has its turn later")
    func oneAtATime() throws {
        let pin = arm()
        let (client, other) = (try Client(1, pin), try Client(2, pin))
        let first = try client.begin(pairing, start)
        #expect(throws: Pairing.Refusal.busy) { try other.begin(pairing, start + .seconds(19)) }
        _ = try client.begin(pairing, start + .seconds(1))
        #expect(throws: Pairing.Refusal.wrongPIN, "the relay has another share now") {
            try pairing.confirm(first.own, from: client.certificate, now: start + .seconds(2))
        }
        let next = arm()
        _ = try Client(1, next).begin(pairing, start)
        _ = try Client(2, next).begin(pairing, start + Pairing.attemptTime)
    }

    @Test("bytes that are not a share begin nothing, and burn nothing")
    func noShare() throws {
        let pin = arm()
        let (client, other) = (try Client(1, pin), try Client(2, pin))
        for share in [[], [4], [UInt8](repeating: 4, count: 65)] {
            #expect(throws: Pairing.Refusal.noShare) {
                try pairing.begin(share, from: client.certificate, to: Self.relay, named: "x", now: start)
            }
        }
        _ = try pairing.confirm(try other.begin(pairing, start).own, from: other.certificate, now: start)
    }

    @Test("a client that begins again and again keeps its place no longer, and burns the PIN in the end")
    func shares() throws {
        let pin = arm()
        let (client, other) = (try Client(1, pin), try Client(2, pin))
        for second in 0..<19 as Range<Int64> { _ = try client.begin(pairing, start + .seconds(second)) }
        #expect(throws: Pairing.Refusal.busy) { try other.begin(pairing, start + .seconds(19)) }
        _ = try other.begin(pairing, start + Pairing.attemptTime)
        #expect(throws: Pairing.Refusal.notArmed) { try other.begin(pairing, start + Pairing.attemptTime) }
        #expect(outcome() == .wrongPIN)
    }

    @Test("a PIN ends after two minutes, by an operator, and by the next one")
    func ends() throws {
        let pin = arm()
        let end = start + Pairing.time
        #expect(pairing.status(now: start)?.end == end)
        #expect(throws: Pairing.Refusal.notArmed) { try Client(1, pin).begin(pairing, end) }
        #expect(pairing.status(now: end)?.outcome == .expired)
        pairing.disarm(now: end)
        #expect(pairing.status(now: end)?.outcome == .expired, "there was nothing to end")

        let client = try Client(1, arm())
        let confirmations = try client.begin(pairing, start)
        pairing.disarm(now: start)
        #expect(outcome() == .cancelled)
        #expect(throws: Pairing.Refusal.notArmed) {
            try pairing.confirm(confirmations.own, from: client.certificate, now: start)
        }
        let before = try Client(1, arm())
        let former = try before.begin(pairing, start)
        let next = arm()
        #expect(throws: Pairing.Refusal.noShare) {
            try pairing.confirm(former.own, from: before.certificate, now: start)
        }
        _ = try Client(2, next).begin(pairing, start)
    }

    @Test("a client that could not be kept is told, unless another PIN is armed by then")
    func failed() throws {
        for armsAgain in [false, true] {
            let client = try Client(1, arm())
            let proved = try pairing.confirm(
                try client.begin(pairing, start).own,
                from: client.certificate,
                now: start
            )
            if armsAgain { _ = arm() }
            pairing.finish(proved, as: nil)
            #expect(outcome() == (armsAgain ? .armed : .failed))
        }
    }
}
