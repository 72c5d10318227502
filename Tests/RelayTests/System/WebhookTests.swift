import Foundation
import HeliographAPI
import NIOCore
import NIOHTTP1
import Relay
import RelayTestSupport
import Synchronization
import TestSupport
import Testing

@Suite("Webhooks", .serialized)
struct WebhookTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    private let scratch: Scratch
    private let secretFile: String

    init() throws {
        scratch = try Scratch()
        secretFile = try scratch.write(Array("\(Self.secret)\n".utf8), to: "secret").path
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secretFile)
    }

    private func webhook(
        _ receiver: WebhookReceiver,
        _ name: String = "ci",
        kinds: Set<EventReport.Kind>? = nil,
        device: String? = nil
    ) throws -> Webhook {
        let settings = WebhookSettings(
            name: name,
            url: receiver.url,
            secretFile: secretFile,
            kinds: kinds,
            device: device
        )
        return try Webhook(settings, devices: ["default", "left"])
    }

    private static let sessions: Set<EventReport.Kind> = [.sessionStarted, .sessionEnded]

    /// Returns the figure of a webhook in /metrics.
    private static func figure(_ name: String, _ relay: RunningRelay) async throws -> Int? {
        let lines = try await relay.get("/metrics").text.split(separator: "\n")
        return lines.first { $0.hasPrefix(name) }.flatMap { $0.split(separator: " ").last }.flatMap { Int($0) }
    }

    private static func types(_ messages: [WebhookReceiver.Message]) -> [String] {
        messages.map { (try? JSONValue(parsing: $0.body.utf8))?["type"]?.text ?? "" }
    }

    @Test("are signed as Standard Webhooks 1.0.0 has it: the specification's own example")
    func signature() throws {
        let secret = try #require(Webhook.Secret(" \(Self.secret)\n"))
        let headers = secret.headers(
            of: #"{"test": 2432232314}"#,
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            time: 1_614_265_330
        )
        #expect(headers.map(\.name) == ["webhook-id", "webhook-timestamp", "webhook-signature"])
        #expect(headers.last?.value == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
        #expect("\(secret)" == "a webhook's secret")
        for text in ["", "whsec_", "whsec_MfKQ", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "\(Self.secret) \(Self.secret)"] {
            #expect(Webhook.Secret(text) == nil, "\(text)")
        }
    }

    @Test("get the events that they want, each once, in order and signed")
    func events() async throws {
        let receiver = try await WebhookReceiver()
        let webhook = try webhook(receiver, kinds: Self.sessions)
        try await RunningRelay.run {
            $0.webhooks = [webhook]
        } _: { relay in
            for _ in 0..<3 {
                let session = try await relay.startSession()
                _ = try await relay.post("/screencapture/\(session.id)/stop")
            }
            let messages = try await receiver.messages(6)
            #expect(
                Self.types(messages)
                    == Array(repeating: [#""session.started""#, #""session.ended""#], count: 3).flatMap { $0 }
            )
            #expect(Set(messages.map(\.id)).count == 6)
            for message in messages {
                let time = try #require(message.headers.first(name: "webhook-timestamp").flatMap { Int($0) })
                #expect(abs(Double(time) - Date().timeIntervalSince1970) < 60)
                let expected = webhook.secret.headers(of: message.body, id: message.id, time: time)
                #expect(message.headers.first(name: "webhook-signature") == expected.last?.value)
            }
            let taken = #"heliograph_webhook_events_total{webhook="ci",outcome="taken"}"#
            _ = try await eventually("the figure") { try await Self.figure(taken, relay) == 6 ? true : nil }
        }
        try await receiver.close()
    }

    @Test("that fail are told again, and later ones wait; a webhook that never answers holds up no other")
    func retries() async throws {
        let receiver = try await WebhookReceiver { _, number in number < 2 ? .internalServerError : .ok }
        let silent = try await WebhookReceiver { _, _ in nil }
        let webhooks = [
            try webhook(receiver, kinds: Self.sessions, device: "default"),
            try webhook(silent, "silent", kinds: Self.sessions),
        ]
        try await RunningRelay.run {
            $0.webhooks = webhooks
            $0.webhookPolicy.firstPause = .milliseconds(20)
        } _: { relay in
            let session = try await relay.startSession()
            _ = try await relay.post("/screencapture/\(session.id)/stop")
            let messages = try await receiver.messages(4)
            #expect(
                Self.types(messages) == [
                    #""session.started""#, #""session.started""#, #""session.started""#, #""session.ended""#,
                ]
            )
            #expect(Set(messages.prefix(3).map(\.id)).count == 1)
            let retries = #"heliograph_webhook_retries_total{webhook="ci"}"#
            #expect(try await Self.figure(retries, relay) == 2)
            // It does not answer, so it gets nothing more.
            #expect(silent.messages.count == 1)
        }
        try await receiver.close()
        try await silent.close()
    }

    @Test("lose what they refuse and what they never take, and say so")
    func givenUp() async throws {
        let receiver = try await WebhookReceiver { message, _ in
            message.body.contains("session.started") ? .badRequest : .badGateway
        }
        let webhook = try webhook(receiver, kinds: Self.sessions)
        let log = LogRecorder()
        try await RunningRelay.run(log: log) {
            $0.webhooks = [webhook]
            $0.webhookPolicy.firstPause = .milliseconds(1)
            $0.webhookPolicy.attempts = 3
        } _: { relay in
            let session = try await relay.startSession()
            _ = try await relay.post("/screencapture/\(session.id)/stop")
            _ = try await receiver.messages(4)
            for outcome in ["refused", "abandoned"] {
                let name = #"heliograph_webhook_events_total{webhook="ci",outcome="\#(outcome)"}"#
                _ = try await eventually(outcome) { try await Self.figure(name, relay) == 1 ? true : nil }
            }
            #expect(receiver.messages.count == 4)
        }
        let lines = log.lines.filter { $0.metadata["webhook"] == "ci" }.map(\.message)
        #expect(lines.count == 3, "\(lines)")
        #expect(!lines.contains { $0.contains(Self.secret.dropFirst(6)) || $0.contains(receiver.url) })
        try await receiver.close()
    }

    @Test("wait between attempts: 1 s, twice as long each time, at most a minute, ten times in all")
    func pauses() {
        let policy = WebhookLane.Policy()
        let pauses = (1...10).map { policy.pause(after: $0) }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60].map { TimeAmount.seconds($0) } + [nil])
    }

    @Test("say what their receiver missed, if more happened than is kept")
    func missed() async throws {
        let isOpen = Mutex(false)
        let receiver = try await WebhookReceiver { _, _ in isOpen.withLock { $0 } ? .ok : .serviceUnavailable }
        let webhook = try webhook(receiver, kinds: [.keysChanged, .sessionStarted])
        let events = EventHub()
        let webhooks = Webhooks(
            events: events,
            devices: ["default"],
            policy: {
                var policy = WebhookLane.Policy()
                policy.firstPause = .milliseconds(20)
                policy.attempts = 1000
                return policy
            }(),
            logger: LogRecorder().logger
        )
        webhooks.change(to: [webhook])
        events.publish(.keysChanged)
        _ = try await receiver.messages(1)
        for _ in 0..<1100 { events.publish(.sessionChanged, device: "default", session: 1) }
        isOpen.withLock { $0 = true }
        _ = try await eventually("missed events") {
            receiver.messages.contains { $0.body.contains("events.missed") } ? true : nil
        }
        await webhooks.end()
        try await receiver.close()
    }

    @Test("whose settings change get what the former ones did not deliver")
    func changed() async throws {
        let former = try await WebhookReceiver { _, _ in nil }
        let receiver = try await WebhookReceiver()
        let events = EventHub()
        let webhooks = Webhooks(events: events, devices: ["default"], policy: .init(), logger: LogRecorder().logger)
        webhooks.change(to: [try webhook(former, kinds: Self.sessions)])
        events.publish(.sessionStarted, device: "default", session: 1)
        _ = try await former.messages(1)
        events.publish(.sessionEnded, device: "default", session: 1)
        webhooks.change(to: [try webhook(receiver, kinds: Self.sessions)])
        let messages = try await receiver.messages(2)
        #expect(Self.types(messages) == [#""session.started""#, #""session.ended""#])
        #expect(messages.first?.id == former.messages.first?.id, "a receiver that got it recognizes it")
        await webhooks.end()
        try await former.close()
        try await receiver.close()
    }

    @Test("are read from the configuration, and what is wrong is said")
    func configuration() throws {
        func read(_ text: String) throws -> RelayConfiguration {
            try RelayConfiguration(ConfigurationFile.settings(in: text, path: "relay.yaml"), linkToken: nil)
        }
        let configuration = try read(
            """
            devices: {left: {}}
            webhooks:
              ci: {url: "https://ci.example/hook", secretFile: \(secretFile), types: "session,feed.changed", device: left}
              log: {url: "http://127.0.0.1:9000", secretFile: \(secretFile)}
            """
        )
        #expect(configuration.webhooks.map(\.name) == ["ci", "log"])
        #expect(configuration.webhooks.first?.kinds == [.sessionStarted, .sessionChanged, .sessionEnded, .feedChanged])
        for (text, expected) in [
            ("ci: {url: 'ftp://x', secretFile: s}", "webhooks.ci.url"),
            ("ci: {url: 'https://me:secret@x/', secretFile: s}", "without a user"),
            ("ci: {url: 'https://x/', secretFile: s, types: nonsense}", "session.started"),
            ("ci: {url: 'https://x/'}", "secretFile"),
            ("ci: {url: 'https://x/', secretFile: s, retries: 3}", "retries"),
            ("'a b': {url: 'https://x/', secretFile: s}", "name"),
        ] {
            let error = try #require(throws: ConfigurationError.self) { _ = try read("webhooks: {\(text)}") }
            #expect(error.lines.joined().contains(expected), "\(error.lines)")
        }
        let strange = try #require(throws: RelayStartError.self) {
            _ = try read("webhooks: {ci: {url: 'https://x/', secretFile: \(secretFile), device: right}}")
        }
        #expect("\(strange)".contains("right"))
        let missing = try #require(throws: RelayStartError.self) {
            _ = try read("webhooks: {ci: {url: 'https://x/', secretFile: /nonexistent}}")
        }
        #expect("\(missing)".contains("/nonexistent"))
        let open = try scratch.write(Array(Self.secret.utf8), to: "open").path
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: open)
        let exposed = try #require(throws: RelayStartError.self) {
            _ = try read("webhooks: {ci: {url: 'https://x/', secretFile: \(open)}}")
        }
        #expect("\(exposed)".contains("chmod"))
    }
}
