import Access
import Foundation
import HeliographAPI
import HeliographClient
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing

@Suite("A client that pairs")
struct PairingClientTests {
    private let scratch: Scratch
    private let keys: KeyFile
    private let boss: APIKey

    init() throws {
        scratch = try Scratch()
        keys = KeyFile(path: scratch.file("keys.json").path)
        boss = try keys.change { ring throws(KeyFileError) in
            try ring.make("boss", KeyRing.Terms(.operator), at: Date())
        }
    }

    private func run(_ body: @escaping @Sendable (RunningRelay) async throws -> Void) async throws {
        try await RunningRelay.run(
            {
                $0.keysFile = keys.path
                $0.tls = .selfSigned
                $0.stateDirectory = scratch.file("state").path
            },
            body
        )
    }

    private static func arm(
        _ relay: RunningRelay,
        _ boss: APIKey,
        _ terms: JSONValue = [:]
    ) async throws -> String {
        let armed = try await relay.call(.POST, "/v1/pairing", key: boss, body: Array(terms.text.utf8))
        try #require(armed.status == 201, "\(armed.text)")
        return try #require(armed.json["pin"]?.string)
    }

    private static func state(_ relay: RunningRelay, _ boss: APIKey) async throws -> JSONValue {
        try await relay.call(.GET, "/v1/pairing", key: boss).json
    }

    /// Returns the code of a call that must be refused.
    private static func refusal(of client: RelayClient, _ call: (RelayClient) async throws -> Void) async throws
        -> String?
    {
        do {
            try await call(client)
        } catch let error as RelayError {
            return error.code
        }
        throw NeverCame(description: "a refusal")
    }

    /// Returns the error of pairing that must fail.
    private static func failure(
        _ relay: RunningRelay,
        _ pin: String,
        _ identity: ClientIdentity,
        trust: Trust = .authorities
    ) async throws -> RelayError {
        do {
            _ = try await RelayClient.pair(relay.url(""), pin: pin, as: "laptop", identity, trust: trust)
        } catch {
            return error
        }
        throw NeverCame(description: "an error")
    }

    @Test("is admitted by its certificate from then on, for calls and for sessions, until it is revoked")
    func course() async throws {
        let (keys, boss) = (keys, boss)
        try await run { relay in
            let identity = try ClientIdentity.make(named: "laptop")
            let url = relay.url("")
            let shown = try await CertificateFingerprint.shown(by: url)
            let stranger = try RelayClient(url, trust: .pinned(shown), identity: identity)
            defer { stranger.close() }
            #expect(try await Self.refusal(of: stranger) { _ = try await $0.devices() } == "not_paired")
            #expect(try await Self.refusal(of: stranger) { _ = try await $0.device().watch() } == "not_paired")

            let pin = try await Self.arm(relay, boss, ["role": "controller", "devices": ["default"], "days": 7])
            #expect(try await Self.state(relay, boss)["state"] == "armed")
            let paired = try await RelayClient.pair(url, pin: pin, as: "laptop", identity)
            #expect(paired.fingerprint == shown && paired.name == "laptop" && paired.role == "controller")
            let end = try #require(paired.expires).timeIntervalSinceNow / 86_400
            #expect(6.9...7.1 ~= end)
            let state = try await Self.state(relay, boss)
            #expect(state["state"] == "paired" && state["name"] == "laptop" && state["until"] == .null)

            // The connections of before are admitted, too.
            #expect(try await stranger.devices().map(\.name) == ["default"])
            let client = try RelayClient(url, trust: .pinned(paired.fingerprint), identity: identity)
            defer { client.close() }
            #expect(try await client.devices().map(\.name) == ["default"])
            let start = try await relay.call(.POST, "/v1/devices/default/broadcast/start")
            #expect(start.code == "missing_key", "the certificate is the connection's, not the address's")
            #expect(
                try await Self.refusal(of: client) { _ = try await $0.report(of: Routes.listKeys) }
                    == "forbidden_role"
            )

            let list = try await relay.call(.GET, "/v1/keys", key: boss)
            #expect(list.text.contains(identity.fingerprint.description), "\(list.text)")
            try keys.change { ring throws(KeyFileError) in _ = try ring.revoke("laptop") }
            #expect(try await Self.refusal(of: client) { _ = try await $0.devices() } == "not_paired")
        }
    }

    @Test("with a wrong PIN is refused, and the PIN is burnt")
    func otherDigits() async throws {
        let boss = boss
        try await run { relay in
            let identity = try ClientIdentity.make(named: "laptop")
            let unarmed = try await Self.failure(relay, "123456", identity)
            #expect(unarmed.code == "pairing_not_armed", "\(unarmed)")
            let pin = try await Self.arm(relay, boss, ["digits": 4])
            #expect(pin.utf8.count == 4)
            let wrong = String(pin.reversed()) == pin ? "\(pin)1" : String(pin.reversed())
            let refused = try await Self.failure(relay, wrong, identity)
            #expect(refused.kind == .refused && refused.code == "wrong_pin", "\(refused)")
            #expect(try await Self.state(relay, boss)["state"] == "wrong_pin")
            let burnt = try await Self.failure(relay, pin, identity)
            #expect(burnt.code == "pairing_not_armed", "\(burnt)")
            let bad = try await Self.failure(relay, "12", identity)
            #expect(bad.kind == .badArgument)
        }
    }

    @Test("with a relay that has another certificate than the pinned one does not begin")
    func otherCertificate() async throws {
        let boss = boss
        try await run { relay in
            let pin = try await Self.arm(relay, boss)
            let identity = try ClientIdentity.make(named: "laptop")
            let error = try await Self.failure(relay, pin, identity, trust: .pinned(identity.fingerprint))
            #expect(error.kind == .untrusted, "\(error)")
            #expect(try await Self.state(relay, boss)["state"] == "armed")
        }
    }

    @Test("needs a certificate, and a relay with TLS and keys")
    func noCertificate() async throws {
        let boss = boss
        try await run { relay in
            _ = try await Self.arm(relay, boss)
            let share = String(repeating: "04", count: 65)
            let body: JSONValue = ["name": "x", "share": .string(share)]
            let answer = try await relay.call(.POST, "/v1/pairing/share", body: Array(body.text.utf8))
            #expect(answer.status == 400 && answer.code == "no_certificate", "\(answer.text)")
        }
        try await RunningRelay.run(
            { $0.keysFile = keys.path },
            { relay in
                let armed = try await relay.call(.POST, "/v1/pairing", key: boss, body: Array("{}".utf8))
                #expect(armed.status == 400 && armed.code == "no_certificate", "\(armed.text)")
            }
        )
    }

    @Test("from another machine must have paired if the relay says so, whatever key it shows")
    func required() async throws {
        let outside = try #require(Self.outsideAddress, "this machine has only loopback addresses")
        let (keys, boss) = (keys, boss)
        try await RunningRelay.run(
            {
                $0.keysFile = keys.path
                $0.tls = .selfSigned
                $0.stateDirectory = scratch.file("state").path
                $0.requiresPairing = true
                $0.http = Endpoint(host: "0.0.0.0", port: 0)
            },
            { relay in
                let url = "https://\(outside):\(relay.ports.http)"
                let shown = try await CertificateFingerprint.shown(by: url)
                let keyed = try RelayClient(url, key: boss.text, trust: .pinned(shown))
                defer { keyed.close() }
                #expect(try await Self.refusal(of: keyed) { _ = try await $0.devices() } == "pairing_required")
                #expect(try await relay.call(.GET, "/v1/keys", key: boss).status == 200, "on this machine keys do")

                let identity = try ClientIdentity.make(named: "laptop")
                let pin = try await Self.arm(relay, boss)
                _ = try await RelayClient.pair(url, pin: pin, as: "laptop", identity)
                let client = try RelayClient(url, trust: .pinned(shown), identity: identity)
                defer { client.close() }
                #expect(try await client.devices().map(\.name) == ["default"])
            }
        )
    }

    /// An address of this machine that is not of loopback.
    private static var outsideAddress: String? {
        let output = try? Programs.run(URL(fileURLWithPath: "/bin/hostname"), ["-I"]).output
        return output?.split { $0.isWhitespace }.map(String.init).first { $0.contains(".") }
    }
}
