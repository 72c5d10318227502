import Access
import Foundation
import HeliographAPI
import HeliographClient
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing

@Suite("A relay, as a program calls it")
struct RelayClientTests {
    /// Returns the error of a body that must fail.
    private static func failure(_ body: () async throws -> Void) async throws -> RelayError {
        do {
            try await body()
        } catch let error as RelayError {
            return error
        }
        throw NeverCame(description: "an error")
    }

    private static let absent = "http://127.0.0.1:1"

    @Test("that is not there is unreachable, for calls and for sessions")
    func unreachable() async throws {
        let client = try RelayClient(Self.absent)
        for body: @Sendable () async throws -> Void in [
            { _ = try await client.devices() }, { _ = try await client.device().watch() },
        ] {
            let error = try await Self.failure(body)
            #expect(error.kind == .unreachable && error.isLossOfRelay)
            #expect(error.description.contains(Self.absent), "\(error)")
        }
    }

    @Test(
        "has an address, and a key that others cannot read",
        arguments: [
            ("farm", nil), ("ftp://farm", nil), ("http://", nil), ("http://farm.example:8420", "hgk_a"),
            ("http://127.0.0.1:1", "a b"),
        ]
            as [(String, String?)]
    )
    func arguments(_ url: String, _ key: String?) async throws {
        let error = try await Self.failure { _ = try RelayClient(url, key: key) }
        #expect(error.kind == .badArgument, "\(url)")
    }

    @Test("refuses with a code, for calls and for sessions")
    func refusals() async throws {
        try await RunningRelay.run { relay in
            let client = try RelayClient(relay.url("/"))
            for body: @Sendable () async throws -> Void in [
                { _ = try await client.session(7).snapshot() }, { _ = try await client.session(7).watch() },
            ] {
                let error = try await Self.failure(body)
                #expect(error.kind == .refused && error.code == "unknown_session", "\(error)")
            }
            let device = try await Self.failure { _ = try await client.device("attic").watch() }
            #expect(device.code == "unknown_device")
            #expect(try await client.devices().map(\.name) == ["default"])
        }
    }

    @Test("is trusted by its certificate's fingerprint, and never without it")
    func trust() async throws {
        let scratch = try Scratch()
        let file = KeyFile(path: scratch.file("keys.json").path)
        let key = try file.change { ring throws(KeyFileError) in
            try ring.make("ci", KeyRing.Terms(.operator), at: Date())
        }
        let directory = scratch.file("state").path
        try await RunningRelay.run {
            $0.http.host = "0.0.0.0"
            $0.tls = .selfSigned
            $0.stateDirectory = directory
            $0.keysFile = file.path
        } _: { relay in
            let text = try await relay.call(.GET, "/auth", key: key).json["tls"]?["fingerprint"]
            guard case .string(let fingerprint)? = text else { throw NeverCame(description: "no fingerprint") }
            guard let found = CertificateFingerprint(fingerprint),
                let another = CertificateFingerprint(String(repeating: "ab", count: 32))
            else { throw NeverCame(description: "not a fingerprint: \(fingerprint)") }
            let (right, other) = (Trust.pinned(found), Trust.pinned(another))
            #expect(try await CertificateFingerprint.shown(by: relay.url("/")) == found)
            let trusting = try RelayClient(relay.url(""), key: key.text, trust: right)
            try await trusting.device().session("door").start()
            let live = try await trusting.device().session("door").watch()
            live.close()
            // The certificate is not for this address.
            let elsewhere = try RelayClient("https://127.0.0.2:\(relay.ports.http)", key: key.text, trust: right)
            #expect(try await elsewhere.devices().count == 1)
            try await elsewhere.device().session("door").watch().close()
            for trust in [other, .authorities] {
                let client = try RelayClient(relay.url(""), key: key.text, trust: trust)
                for body: @Sendable () async throws -> Void in [
                    { _ = try await client.devices() }, { _ = try await client.device().session("door").watch() },
                ] {
                    let error = try await Self.failure(body)
                    #expect(error.kind == .untrusted, "\(error)")
                }
            }
            let stranger = try RelayClient(relay.url(""), trust: right)
            for body: @Sendable () async throws -> Void in [
                { _ = try await stranger.devices() }, { _ = try await stranger.device().session("door").watch() },
            ] {
                let error = try await Self.failure(body)
                #expect(error.kind == .refused && error.code == "missing_key", "\(error)")
            }
        }
    }

    @Test("shows its certificate only if it has one, and is there")
    func shown() async throws {
        try await RunningRelay.run { relay in
            let plain = relay.url("")
            let secure = plain.replacingOccurrences(of: "http:", with: "https:")
            let faults = [
                (plain, RelayError.Kind.badArgument), (secure, .untrusted), ("https://127.0.0.1:1", .unreachable),
            ]
            for (url, kind) in faults {
                let error = try await Self.failure { _ = try await CertificateFingerprint.shown(by: url) }
                #expect(error.kind == kind, "\(error)")
            }
        }
        let (silent, port) = try Connection.listen()
        defer { close(silent) }
        let task = Task { try await CertificateFingerprint.shown(by: "https://127.0.0.1:\(port)") }
        task.cancel()
        let error = try await Self.failure { _ = try await task.value }
        #expect(error.kind == .cancelled, "\(error)")
    }

    @Test("is not called any more after it was closed")
    func closed() async throws {
        try await RunningRelay.run { relay in
            let client = try RelayClient(relay.url(""))
            _ = try await client.devices()
            client.close()
            client.close()
            let error = try await Self.failure { _ = try await client.devices() }
            #expect(error.kind == .closed)
            let other = try await Self.failure { _ = try await client.device().watch() }
            #expect(other.kind == .closed)
        }
    }

    @Test("is asked no more by a task that was cancelled")
    func cancelled() async throws {
        try await RunningRelay.run { relay in
            let client = try RelayClient(relay.url(""))
            try await client.device().session("door").start()
            let wait = Task { () async throws(RelayError) in
                try await client.device().session("door").wait(.changed(), timeout: .seconds(600))
            }
            // Usually the relay has the call by then; it makes no difference.
            try await Task.sleep(for: .milliseconds(300))
            wait.cancel()
            let error = try await Self.failure { _ = try await wait.value }
            #expect(error.kind == .cancelled, "\(error)")
        }
    }
}
