import Access
import Foundation
import HeliographAPI
import Logging
import NIOHTTP1
import Relay
import RelayTestSupport
import Synchronization
import TestSupport
import Testing

@Suite("TLS")
struct TLSTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// Returns everything that the relay sends on an encrypted connection to a client that sends `request` and then
    /// listens.
    private static func answer(of relay: RunningRelay, to request: String) async throws -> String {
        try await openssl("s_client", "-quiet", "-connect", "127.0.0.1:\(relay.ports.http)", "-ign_eof", input: request)
    }

    private static func openssl(_ arguments: String..., input: String = "") async throws -> String {
        // With timeout(1), because s_client waits for the end of its input.
        let script = "printf '%s' \"$0\" | timeout 20 openssl \"$@\" 2>&1"
        return try await inThread {
            try Programs.run(URL(fileURLWithPath: "/bin/bash"), ["-c", script, input] + arguments).output
        }
    }

    /// Returns the certificate of a port, as the fingerprint that openssl prints.
    private static func fingerprint(port: Int) async throws -> String {
        let shown = try await openssl("s_client", "-connect", "127.0.0.1:\(port)")
        let pem = try #require(shown.firstMatch(of: /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/)).output
        let line = try await openssl("x509", "-noout", "-fingerprint", "-sha256", input: String(pem))
        return try #require(line.split(separator: "=").last).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// A certificate and key as an operator provides them.
    private static func makeFiles(_ name: String, _ certificate: String, _ key: String) async throws {
        let made = try await openssl(
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-subj",
            "/CN=\(name)",
            "-days",
            "7",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
            "-keyout",
            key,
            "-out",
            certificate
        )
        try #require(FileManager.default.fileExists(atPath: certificate), "\(made)")
    }

    @Test("with a certificate of the relay's own, which it makes once and keeps to itself")
    func selfSigned() async throws {
        let directory = scratch.file("state").path
        let log = LogRecorder()
        var first: String?
        for _ in 0..<2 {
            let seen = Received<String>()
            try await RunningRelay.run(log: log) {
                $0.tls = .selfSigned
                $0.stateDirectory = directory
            } _: { relay in
                let status = try await relay.broadcast()
                guard case .string(let fingerprint)? = status["tls"]?["fingerprint"] else {
                    Issue.record("no fingerprint in \(status)")
                    return
                }
                #expect(status["tls"]?["selfSigned"] == true)
                #expect(try await relay.get("/auth").json["tls"]?["fingerprint"] == .string(fingerprint))
                #expect(try await Self.fingerprint(port: relay.ports.http) == fingerprint)
                let end = try await Self.openssl(
                    "x509",
                    "-in",
                    "\(directory)/tls-certificate.pem",
                    "-noout",
                    "-enddate"
                )
                let formatter = DateFormatter()
                formatter.locale = Locale(identifier: "en_US_POSIX")
                formatter.dateFormat = "'notAfter='MMM d HH:mm:ss yyyy zzz"
                let text = end.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
                let date = try #require(formatter.date(from: text.trimmingCharacters(in: .newlines)), "\(end)")
                let line = "heliograph_tls_certificate_expiry_timestamp_seconds \(Int(date.timeIntervalSince1970))\n"
                #expect(try await relay.get("/metrics").text.contains(line), "\(line)")
                seen.set(fingerprint)
                // Plain HTTP gets no answer.
                let plain = try await ByteClient(port: relay.ports.http)
                try await plain.send(Array("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
                #expect(!String(decoding: try await plain.readToEnd(), as: UTF8.self).contains("200"))
            }
            let fingerprint = try #require(seen.value)
            #expect(first == nil || first == fingerprint, "a relay that is started again is the same")
            first = fingerprint
            #expect(log.lines.contains { $0.level == .notice && $0.metadata["fingerprint"] == fingerprint })
        }
        let key = scratch.file("state/tls-key.pem").path
        let mode = try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let text = try await Self.openssl("x509", "-in", "\(directory)/tls-certificate.pem", "-noout", "-text")
        for part in [
            "CA:FALSE", "DNS:localhost", "IP Address:127.0.0.1", "TLS Web Server Authentication", "prime256v1",
        ] {
            #expect(text.contains(part), "\(part)")
        }
    }

    @Test("with the operator's certificate, and the new one when that is renewed")
    func renewal() async throws {
        let (certificate, key) = (scratch.file("certificate.pem").path, scratch.file("key.pem").path)
        try await Self.makeFiles("first", certificate, key)
        let log = LogRecorder()
        try await RunningRelay.run(log: log) {
            $0.tls = .files(certificate: certificate, key: key)
        } _: { relay in
            let before = try await Self.fingerprint(port: relay.ports.http)
            // A certificate without its key is invalid, so the former one stays in use.
            let old = try Data(contentsOf: URL(fileURLWithPath: key))
            try Data("nonsense".utf8).write(to: URL(fileURLWithPath: key))
            _ = try await eventually("the complaint") {
                log.lines.contains { $0.level == .error && $0.message.contains("served on") } ? true : nil
            }
            #expect(try await Self.fingerprint(port: relay.ports.http) == before)
            try old.write(to: URL(fileURLWithPath: key))
            try await Self.makeFiles("second", certificate, key)
            let after = try await eventually("the new certificate") {
                let shown = try await Self.fingerprint(port: relay.ports.http)
                return shown == before ? nil : shown
            }
            _ = try await eventually("the new fingerprint in the status") {
                try await relay.broadcast()["tls"]?["fingerprint"] == .string(after) ? true : nil
            }
            #expect(try await relay.broadcast()["tls"]?["selfSigned"] == false)
        }
    }

    @Test("does not start with a key that is open to all, or is none")
    func badFiles() async throws {
        let (certificate, key) = (scratch.file("certificate.pem").path, scratch.file("key.pem").path)
        try await Self.makeFiles("relay", certificate, key)
        try FileManager.default.setAttributes([.posixPermissions: 0o604], ofItemAtPath: key)
        let bad: [TLSSettings] = [
            .files(certificate: certificate, key: key), .files(certificate: certificate, key: certificate),
            .files(certificate: "/nonexistent", key: "/nonexistent"), .selfSigned,
        ]
        for settings in bad {
            await #expect(throws: RelayStartError.self) {
                try await RunningRelay.run {
                    $0.tls = settings
                } _: { _ in
                    Issue.record("it started")
                }
            }
        }
    }

    @Test("carries streams to their end, and WebSockets")
    func streams() async throws {
        let directory = scratch.file("state").path
        try await RunningRelay.run {
            $0.tls = .selfSigned
            $0.stateDirectory = directory
        } _: { relay in
            let session = try await relay.startSession(["repeat": false])
            let link = try await LinkClient(greeting: relay)
            try await link.send([SampleStream.accessUnit(0, key: true)], session: session.id)
            let request = "GET /screencapture/1/stream.h264 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            let stream = Task {
                // Ends with the relay's close_notify; openssl complains about an end without it.
                try await Self.answer(of: relay, to: request)
            }
            try await relay.waitForViewers(1, of: session.id)
            _ = try await relay.post("/screencapture/1/stop")
            let text = try await stream.value
            #expect(text.contains("HTTP/1.1 200 OK"))
            #expect(!text.contains("unexpected eof"), "\(text.suffix(200))")
            // The relay notices a client that leaves.
            let second = try await relay.startSession(["repeat": false])
            let path = "/screencapture/\(second.id)/stream.h264"
            let leaving = Process()
            leaving.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
            leaving.arguments = ["-ksN", "-o", "/dev/null", relay.url(path)]
            try Programs.start(leaving)
            try await relay.waitForViewers(1, of: second.id)
            leaving.terminate()
            leaving.waitUntilExit()
            try await relay.waitForViewers(0, of: second.id)
            // The upgrade; the first message on a WebSocket is its hello.
            let upgrade = """
                GET /screencapture/\(second.id)/ws HTTP/1.1\r
                Host: 127.0.0.1\r
                Origin: https://127.0.0.1\r
                Upgrade: websocket\r
                Connection: Upgrade\r
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
                Sec-WebSocket-Version: 13\r
                \r

                """
            let socket = Task {
                try await Self.answer(of: relay, to: upgrade)
            }
            try await relay.waitForViewers(1, of: second.id)
            _ = try await relay.post("/screencapture/\(second.id)/stop")
            let answer = try await socket.value
            #expect(answer.contains("101 Switching Protocols"))
            #expect(answer.contains("\"type\":\"hello\""))
        }
    }

    @Test("pages over HTTP are strangers, and the cookie is for HTTPS")
    func pages() async throws {
        let keys = try Keys()
        let key = try keys.make("ci", .operator)
        let directory = scratch.file("state").path
        try await RunningRelay.run {
            $0.tls = .selfSigned
            $0.stateDirectory = directory
            $0.keysFile = keys.file.path
        } _: { relay in
            let login = try await relay.post("/auth/login", ["key": .string(key.text)])
            #expect(login.headers["set-cookie"].first?.hasSuffix("; Secure") == true)
            let authority = "127.0.0.1:\(relay.ports.http)"
            for (scheme, status) in [("https", 200), ("http", 403)] {
                let headers = [("Origin", "\(scheme)://\(authority)")]
                #expect(try await relay.call(.GET, "/auth", key: key, headers: headers).status == status)
            }
        }
    }
}

/// A value that another task provides for the test.
final class Received<Value: Sendable>: Sendable {
    private let stored = Mutex<Value?>(nil)

    var value: Value? { stored.withLock { $0 } }

    func set(_ value: Value) { stored.withLock { $0 = value } }
}
