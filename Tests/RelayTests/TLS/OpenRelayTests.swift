import Access
import Foundation
import HeliographAPI
import NIOCore
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing

@Suite("A relay that other machines reach")
struct OpenRelayTests {
    private let scratch: Scratch
    private let keys: Keys

    init() throws {
        scratch = try Scratch()
        keys = try Keys()
    }

    private func run(
        _ strangers: StreamEntrance.Policy = StreamEntrance.Policy(),
        timeout: TimeAmount = .seconds(10),
        _ body: @escaping @Sendable (RunningRelay) async throws -> Void
    ) async throws {
        let (path, directory) = (keys.file.path, scratch.file("state").path)
        try await RunningRelay.run(
            {
                $0.http.host = "0.0.0.0"
                $0.tls = .selfSigned
                $0.stateDirectory = directory
                $0.keysFile = path
                $0.connections.requestTimeout = timeout
                $0.strangers = strangers
            },
            body
        )
    }

    /// Returns what a session's port sends over TLS to a client that sends `first`.
    private static func read(_ port: Int, _ first: String, bytes: Int, as client: URL? = nil) throws -> Int {
        let identity = client.map { "-cert \($0.path) -key \($0.path)" } ?? ""
        let script = """
            { printf '%s\\n' "$0"; sleep 5; } | timeout 10 openssl s_client -quiet \(identity) -connect 127.0.0.1:\(port) 2>/dev/null | head -c \(bytes) | wc -c
            """
        let outcome = try Programs.run(URL(fileURLWithPath: "/bin/bash"), ["-c", script, first])
        return Int(outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)) ?? -1
    }

    /// Makes the identity of a client that has paired, and returns its file.
    private func pair(_ name: String, devices: Set<String>? = nil) throws -> URL {
        let made = try SelfSignedCertificate(for: .client(name: name), now: Date())
        let lines = made.certificate.split(separator: "\n").filter { !$0.hasPrefix("-") }
        let certificate = try #require(Data(base64Encoded: lines.joined()))
        let fingerprint = Fingerprint(ofCertificate: Array(certificate))
        try keys.file.change { ring throws(KeyFileError) in
            _ = try ring.pair(fingerprint, named: name, KeyRing.Terms(.viewer, devices: devices), at: Date())
        }
        return try scratch.write(Array((made.key + made.certificate).utf8), to: "\(name).pem")
    }

    @Test("has to have keys")
    func keysAreNeeded() async throws {
        let error = await #expect(throws: RelayStartError.self) {
            try await run { _ in Issue.record("it started") }
        }
        #expect(error.map { "\($0)" }?.contains("heliograph keys make") == true)
    }

    @Test("asks viewers on a session's port for TLS and a key")
    func sessionPorts() async throws {
        let key = try keys.make("wall", .viewer)
        let drives = try keys.make("ci", .operator)
        let elsewhere = try keys.make("elsewhere", .operator, devices: ["left"])
        let here = try keys.make("here", .viewer, devices: ["default"])
        let (paired, pairedElsewhere) = (try pair("laptop"), try pair("desk", devices: ["left"]))
        let keys = keys
        try await run { relay in
            #expect(try await relay.get("/screencapture").code == "missing_key")
            let started = try await relay.call(
                .POST,
                "/screencapture/start",
                key: drives,
                body: Array("{\"repeat\":false}".utf8)
            )
            guard case .integer(let port)? = started.json["port"] else {
                Issue.record("no session: \(started.text)")
                return
            }
            let link = try await LinkClient(greeting: relay)
            let unit = SampleStream.accessUnit(0, key: true)
            try await link.send([unit], session: 1)
            _ = try await eventually("the picture") {
                let session = try await relay.call(.GET, "/screencapture/1", key: drives).json
                return session["feed"] == "primary" ? true : nil
            }
            let pictures = Task {
                // Keyframes for joining viewers.
                for number in 1..<2000 {
                    try await link.send([SampleStream.accessUnit(number, key: true)], session: 1)
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            defer { pictures.cancel() }
            for line in [key.text, "\(drives.text)\r", here.text] {
                #expect(try await inThread { try Self.read(port, line, bytes: 20) } == 20)
            }
            #expect(try await inThread { try Self.read(port, "", bytes: 20, as: paired) } == 20)
            #expect(try await inThread { try Self.read(port, "hgk_wrong", bytes: 20, as: paired) } == 0)
            #expect(try await inThread { try Self.read(port, "", bytes: 20, as: pairedElsewhere) } == 0)
            for line in [
                "", "hgk_wrong", "GET / HTTP/1.1", elsewhere.text, String(repeating: "x", count: 300),
                "\(key.text) \(key.text)",
            ] {
                #expect(try await inThread { try Self.read(port, line, bytes: 20) } == 0, "\(line)")
            }
            // Without TLS and without sending anything: closed by the timeout.
            let plain = try await ByteClient(port: port)
            try await plain.send(Array("\(key.text)\n".utf8))
            #expect(try await plain.readToEnd().count < 20)
            let silent = try await ByteClient(port: port)
            #expect(try await silent.readToEnd().isEmpty)
            // A viewer's stream ends when its key is revoked.
            let stays = Task { try await inThread { try Self.read(port, key.text, bytes: 1 << 30) } }
            _ = try await eventually("the viewer") {
                try await relay.call(.GET, "/screencapture/1", key: drives).json["viewers"] == .integer(1) ? true : nil
            }
            try keys.revoke("wall")
            _ = try await eventually("no viewer") {
                try await relay.call(.GET, "/screencapture/1", key: drives).json["viewers"] == .integer(0) ? true : nil
            }
            _ = try await stays.value
        }
    }

    /// Starts a session and returns its port, with a link that feeds it.
    private static func startSession(_ relay: RunningRelay, _ key: APIKey) async throws -> (port: Int, link: LinkClient)
    {
        let body = Array("{\"repeat\":false}".utf8)
        let started = try await relay.call(.POST, "/screencapture/start", key: key, body: body)
        guard case .integer(let port)? = started.json["port"] else {
            throw NeverCame(description: "no session: \(started.text)")
        }
        let link = try await LinkClient(greeting: relay)
        try await link.send([SampleStream.accessUnit(0, key: true)], session: 1)
        return (port, link)
    }

    /// Sends keyframes for joining viewers, until it is cancelled.
    private static func feed(_ link: LinkClient) -> Task<Void, any Error> {
        Task {
            for number in 1..<10_000 {
                try await link.send([SampleStream.accessUnit(number, key: true)], session: 1)
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    private static func waitForViewers(_ count: Int, _ relay: RunningRelay, _ key: APIKey) async throws {
        _ = try await eventually("\(count) viewers") {
            try await relay.call(.GET, "/screencapture/1", key: key).json["viewers"] == .integer(count) ? true : nil
        }
    }

    @Test("admits only a few connections to a session's port without a key, and others when those are gone")
    func strangers() async throws {
        let key = try keys.make("ci", .operator)
        var few = StreamEntrance.Policy()
        few.maximum = 3
        // No connection comes to its end by the timeout.
        try await run(few, timeout: .seconds(300)) { relay in
            let (port, link) = try await Self.startSession(relay, key)
            let pictures = Self.feed(link)
            defer { pictures.cancel() }
            let watching = Task { try await inThread { try Self.read(port, key.text, bytes: 1 << 30) } }
            try await Self.waitForViewers(1, relay, key)
            var silent: [ByteClient] = []
            for _ in 0..<3 { silent.append(try await ByteClient(port: port)) }
            let late = try await ByteClient(port: port)
            #expect(try await late.readToEnd().isEmpty)
            let metrics = try await relay.call(.GET, "/metrics", key: key).text
            #expect(metrics.contains("heliograph_connections_refused_total{reason=\"strangers\"} 1\n"))
            // An admitted client no longer counts as unknown.
            try await Self.waitForViewers(1, relay, key)
            for client in silent { try await client.close() }
            _ = try await eventually("place for another") {
                try await inThread { try Self.read(port, key.text, bytes: 20) } == 20 ? true : nil
            }
            pictures.cancel()
            _ = try await relay.call(.POST, "/screencapture/1/stop", key: key)
            #expect(try await watching.value > 0)
        }
    }

    @Test("takes so many new ones a second on sessions' ports, and closes the others")
    func arrivals() async throws {
        let key = try keys.make("ci", .operator)
        var slow = StreamEntrance.Policy()
        (slow.burst, slow.perSecond) = (3, 1)
        try await run(slow) { relay in
            let (port, link) = try await Self.startSession(relay, key)
            let pictures = Self.feed(link)
            defer { pictures.cancel() }
            #expect(try await inThread { try Self.read(port, key.text, bytes: 20) } == 20)
            let flood = try await withThrowingTaskGroup { group in
                for _ in 0..<50 { group.addTask { try await ByteClient(port: port) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            _ = try await eventually("refusals") {
                let text = try await relay.call(.GET, "/metrics", key: key).text
                return text.contains(/heliograph_connections_refused_total\{reason="rate"\} [1-9]/) ? true : nil
            }
            for client in flood { #expect(try await client.readToEnd().isEmpty) }
            // A slow client is admitted, too.
            _ = try await eventually("a viewer") {
                try await inThread { try Self.read(port, key.text, bytes: 20) } == 20 ? true : nil
            }
        }
    }

    @Test("tells a connection why there is no place for it, after the handshake")
    func refusedConnection() async throws {
        let key = try keys.make("ci", .operator)
        let (path, directory) = (keys.file.path, scratch.file("state").path)
        try await RunningRelay.run {
            $0.http.host = "0.0.0.0"
            $0.tls = .selfSigned
            $0.stateDirectory = directory
            $0.keysFile = path
            $0.connections.maximum = 1
        } _: { relay in
            // Its connection is kept, and is the only one that is allowed.
            #expect(try await relay.call(.GET, "/auth", key: key).status == 200)
            let script =
                "sleep 3 | timeout 10 openssl s_client -quiet -connect 127.0.0.1:\(relay.ports.http) 2>/dev/null"
            let outcome = try await inThread { try Programs.run(URL(fileURLWithPath: "/bin/bash"), ["-c", script]) }
            #expect(outcome.output.hasPrefix("HTTP/1.1 503 "), "\(outcome.output)")
            #expect(outcome.output.contains("too_many_connections"))
            #expect(try await relay.call(.GET, "/auth", key: key).status == 200)
        }
    }

    @Test("is what heliograph talks to, by fingerprint, and never with a key in the open")
    func command() async throws {
        let key = try keys.make("ci", .operator)
        try await run { relay in
            let url = relay.url("")
            guard
                case .string(let fingerprint)? = try await relay.call(.GET, "/auth", key: key).json["tls"]?[
                    "fingerprint"
                ]
            else {
                Issue.record("no fingerprint")
                return
            }
            func status(_ arguments: [String], _ environment: [String: String]) async throws -> Programs.Outcome {
                try await inThread {
                    try Programs.run(
                        Programs.product("heliograph"),
                        ["status"] + arguments,
                        environment: environment.merging(["HELIOGRAPH_KEY": key.text]) { $1 }
                    )
                }
            }
            let right = try await status(["--relay", url, "--fingerprint", fingerprint], [:])
            #expect(right.status == 0, "\(right.errors)")
            #expect(right.output.contains(fingerprint))
            let compact = fingerprint.replacing(":", with: "").lowercased()
            let named = try await status([], ["HELIOGRAPH_RELAY": url, "HELIOGRAPH_FINGERPRINT": compact])
            #expect(named.status == 0, "\(named.errors)")
            let wrong = try await status(["--relay", url, "--fingerprint", String(repeating: "ab", count: 32)], [:])
            #expect(wrong.status == 1)
            #expect(wrong.errors.contains("fingerprint, \(fingerprint),"), "\(wrong.errors)")
            let unpinned = try await status(["--relay", url], [:])
            #expect(unpinned.status == 1)
            #expect(unpinned.errors.contains("--fingerprint"), "\(unpinned.errors)")
            let open = try await status(["--relay", "http://192.0.2.1:8420"], [:])
            #expect(open.status == 1)
            #expect(open.errors.contains("https://"), "\(open.errors)")
            let nonsense = try await status(["--relay", url, "--fingerprint", "ab"], [:])
            #expect(nonsense.status == 64)
        }
    }
}
