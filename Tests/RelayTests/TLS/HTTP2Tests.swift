import Foundation
import HeliographAPI
import NIOCore
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing

@Suite("HTTP/2")
struct HTTP2Tests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// Runs curl, and returns what it prints.
    private static func curl(_ relay: RunningRelay, _ path: String, _ arguments: [String]) async throws -> String {
        let address = "https://127.0.0.1:\(relay.ports.http)\(path)"
        return try await inThread { try Tool.run("/usr/bin/curl", ["-sSk", "-m", "30"] + arguments + [address]) }
    }

    private func run(
        _ configure: @escaping (inout RelayConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (RunningRelay) async throws -> Void
    ) async throws {
        let folder = scratch.file("state").path
        try await RunningRelay.run {
            $0.tls = .selfSigned
            $0.stateDirectory = folder
            configure(&$0)
        } _: {
            try await body($0)
        }
    }

    @Test("is what clients get that ask for it, with the same answers as HTTP/1.1, of many requests at once")
    func answers() async throws {
        try await run { relay in
            let written = ["-w", "|%{http_version} %{http_code}"]
            for (path, status) in [("/livez", 200), ("/v1/sessions", 200), ("/nothing", 404), ("/ws", 409)] {
                let new = try await Self.curl(relay, path, ["--http2"] + written).split(separator: "|")
                let old = try await Self.curl(relay, path, ["--http1.1"] + written).split(separator: "|")
                #expect(new.last == "2 \(status)" && old.last == "1.1 \(status)", "\(path): \(new) \(old)")
                #expect(new.first == old.first)
            }
            let start = ["--http2", "-H", "content-type: application/json", "-d", #"{"label":"desk"}"#] + written
            let started = try await Self.curl(relay, "/v1/sessions", start)
            #expect(started.hasSuffix("|2 201") && started.contains(#""label":"desk""#), "\(started)")
            let many = [
                "--http2", "-Z", "--no-progress-meter", "-o", "/dev/null", "-w", "%{http_version} %{http_code}\n",
            ]
            let answers = try await Self.curl(relay, "/livez?number=[1-300]", many)
            #expect(answers.split(separator: "\n").count { $0 == "2 200" } == 300, "\(answers.prefix(200))")
        }
    }

    @Test("carries a stream byte for byte")
    func stream() async throws {
        let files = (old: scratch.file("old").path, new: scratch.file("new").path)
        try await run { relay in
            let link = try await LinkClient(greeting: relay)
            let session = try await relay.startSession()
            let path = "/v1/sessions/\(session.id)/stream.h264"
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (version, file) in [("--http1.1", files.old), ("--http2", files.new)] {
                    group.addTask { _ = try await Self.curl(relay, path, [version, "-o", file]) }
                }
                _ = try await eventually("both viewers") {
                    try await relay.get("/v1/sessions/\(session.id)").json["viewers"] == 2 ? true : nil
                }
                for number in 0..<200 {
                    try await link.send([SampleStream.accessUnit(number, key: number == 0)], session: session.id)
                }
                _ = try await eventually("all pictures") {
                    try await relay.get("/v1/sessions/\(session.id)").json["counters"]?["relay"]?["pictures"] == 200
                        ? true : nil
                }
                _ = try await relay.call(.POST, "/v1/sessions/\(session.id)/stop")
                try await group.waitForAll()
            }
        }
        let old = try Data(contentsOf: URL(fileURLWithPath: files.old))
        #expect(try old.count > 0 && old == Data(contentsOf: URL(fileURLWithPath: files.new)))
    }

    /// What the relay sends to a client that sends bytes and then listens.
    private struct Reply {
        /// Hexadecimal.
        let bytes: String
        /// Whether the relay closed the connection.
        let isEnd: Bool

        /// Whether it has a GOAWAY frame with an error (RFC 9113, section 6.8).
        func goesAway(_ error: UInt8) -> Bool {
            let frame = /000008070000000000[0-9a-f]{8}000000([0-9a-f]{2})/
            return bytes.matches(of: frame).contains { UInt8($0.output.1, radix: 16) == error }
        }
    }

    private static func reply(_ relay: RunningRelay, to bytes: String) async throws -> Reply {
        let script = """
            printf '\(bytes)' \
                | timeout 20 openssl s_client -quiet -ign_eof -alpn h2 -connect 127.0.0.1:\(relay.ports.http) 2>/dev/null \
                | od -An -v -tx1 | tr -d ' \n'
            echo " ${PIPESTATUS[1]}"
            """
        let output = try await inThread { try Programs.run(URL(fileURLWithPath: "/bin/bash"), ["-c", script]).output }
        let parts = output.split(separator: " ", omittingEmptySubsequences: false)
        return Reply(bytes: String(parts[0]), isEnd: parts.last?.hasPrefix("124") == false)
    }

    private static let preface = #"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"#
    private static let settings = #"\0\0\0\4\0\0\0\0\0"#
    /// A whole GET of / without an authority, in the static table's fields (RFC 7541, appendix A).
    private static let request = #"\0\0\3\1\5\0\0\0\1\x82\x84\x87"#

    @Test("ends with a reason: idle, without a request in time, and after an error of the client")
    func end() async throws {
        try await run {
            $0.connections.requestTimeout = .milliseconds(500)
            $0.connections.idleTimeout = .milliseconds(500)
        } _: { relay in
            let hello = Self.preface + Self.settings
            for (bytes, error): (String, UInt8) in [
                (hello, 0), (hello + Self.request, 0),
                // SETTINGS in a stream; a frame of a stream that is not open.
                (hello + #"\0\0\0\4\0\0\0\0\1"#, 1), (hello + #"\0\0\1\0\0\0\0\0\1x"#, 1),
            ] {
                let reply = try await Self.reply(relay, to: bytes)
                #expect(reply.isEnd && reply.goesAway(error), "\(bytes): \(reply)")
            }
            for bytes in ["GET / HTTP/1.1\\r\\n\\r\\n", Self.preface + #"\xff\xff\xff\xff\xff\xff\xff\xff\xff"#, ""] {
                #expect(try await Self.reply(relay, to: bytes).isEnd, "\(bytes)")
            }
            let silent = try await ByteClient(port: relay.ports.http)
            #expect(try await silent.readToEnd().isEmpty)
            let body = try await Self.curl(relay, "/livez", ["--http2", "-w", "%{http_version}"])
            #expect(body.hasSuffix("2"))
            _ = try await eventually("its connections are gone") {
                try await relay.get("/metrics").text.contains("heliograph_connections 1\n") ? true : nil
            }
        }
    }

    @Test("may be left by a client in the middle of a request that has begun to be answered")
    func abrupt() async throws {
        try await run { relay in
            // The events, whose answer never ends, with a body that does not come.
            let authority = "127.0.0.1:\(relay.ports.http)"
            let block: [UInt8] =
                [0x82, 0x87, 0x04, 10] + Array("/v1/events".utf8)
                + [0x01, UInt8(authority.utf8.count)] + Array(authority.utf8)
            let bytes: [UInt8] = [0, 0, UInt8(block.count), 1, 4, 0, 0, 0, 1] + block
            let request = bytes.map { String($0, radix: 8) }.map {
                "\\" + String(repeating: "0", count: 3 - $0.count) + $0
            }
            .joined()
            for _ in 0..<10 {
                let script = """
                    (printf '\(Self.preface)\(Self.settings)\(request)'; sleep 0.3) \
                        | timeout 0.3 openssl s_client -quiet -alpn h2 -connect 127.0.0.1:\(relay.ports.http) >/dev/null 2>&1
                    """
                _ = try await inThread { try Programs.run(URL(fileURLWithPath: "/bin/bash"), ["-c", script]) }
            }
            #expect(try await relay.get("/livez").status == 200)
        }
    }

    @Test("gives all that was asked for to a client that reads slowly while the relay ends")
    func ending() async throws {
        let file = scratch.file("contract").path
        let received = try await Self.received(by: self, file)
        #expect(received > 500_000, "\(received)")
    }

    /// Returns how many bytes of a large answer a slow client gets of a relay that ends meanwhile.
    private static func received(by tests: HTTP2Tests, _ file: String) async throws -> Int {
        let answer = Received<Task<String, any Error>>()
        try await tests.run { relay in
            // curl would take all of it at once.
            let words = ["--http2", "--limit-rate", "300k", "-o", file]
            answer.set(Task { try await curl(relay, "/openapi.json", words) })
            _ = try await eventually("the first bytes") {
                FileManager.default.contents(atPath: file)?.isEmpty == false ? true : nil
            }
        }
        _ = try await answer.value?.value
        return try Data(contentsOf: URL(fileURLWithPath: file)).count
    }

    @Test("is not chosen for a connection that is refused, so that its client can read why")
    func refused() async throws {
        try await run {
            $0.connections.maximum = 1
        } _: { relay in
            let kept = try await ByteClient(port: relay.ports.http)
            let answer = try await eventually("the refusal") {
                let answer = try await Self.curl(relay, "/livez", ["--http2", "-w", "|%{http_version} %{http_code}"])
                return answer.hasSuffix("|1.1 503") ? answer : nil
            }
            #expect(answer.contains("too_many_connections"))
            try await kept.close()
        }
    }

    @Test("keeps its place until a request's body or answer takes too long")
    func slow() async throws {
        try await run {
            $0.connections.requestTimeout = .milliseconds(500)
            $0.connections.idleTimeout = .milliseconds(500)
        } _: { relay in
            // HEADERS of a POST to /, without the body.
            let open = Self.preface + Self.settings + #"\0\0\3\1\4\0\0\0\1\x83\x84\x87"#
            let reply = try await Self.reply(relay, to: open)
            #expect(reply.isEnd && reply.goesAway(0), "\(reply)")
        }
    }
}
