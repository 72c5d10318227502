import Access
import HeliographAPI
import Media
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing

@Suite("A hostile client")
struct HostileClientTests {
    struct Request: Sendable, CustomTestStringConvertible {
        let lines: [String]
        let status: Int
        let code: String

        init(_ lines: String..., status: Int, code: String) {
            self.lines = lines
            self.status = status
            self.code = code
        }

        var testDescription: String { "\(lines[0].prefix(60).debugDescription): \(status)" }

        var bytes: [UInt8] { Array((lines + ["", ""]).joined(separator: "\r\n").utf8) }
    }

    private static let requests: [Request] =
        [
            "/page/../../../../etc/passwd", "/page/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
            "/page/..%2f..%2f..%2fetc%2fpasswd",
            "/page/....//....//etc/passwd", "/page/..\\..\\etc\\passwd", "/../etc/passwd", "//etc/passwd",
            "/page/app.js/../../x", "/page/app.js%00.html", "/page/", "/screencapture/1/../../etc/passwd", "/x?/livez",
            "/page//app.js/.",
        ].map { Request("GET \($0) HTTP/1.1", "Host: localhost", status: 404, code: "unknown_route") }
        + [
            Request("DELETE /screencapture HTTP/1.1", "Host: localhost", status: 405, code: "method_not_allowed"),
            Request("PUT /livez HTTP/1.1", "Host: localhost", status: 405, code: "method_not_allowed"),
            Request("POST /metrics HTTP/1.1", "Host: localhost", status: 405, code: "method_not_allowed"),
            Request("GET /drain HTTP/1.1", "Host: localhost", status: 405, code: "method_not_allowed"),
            Request("TRACE /livez HTTP/1.1", "Host: localhost", status: 405, code: "method_not_allowed"),
            Request("PROPFIND /livez HTTP/1.1", "Host: localhost", status: 405, code: "method_not_allowed"),
            Request("FROB /livez HTTP/1.1", "Host: localhost", status: 400, code: "http_error"),
            Request("GET /livez", status: 400, code: "http_error"),
            Request("GET /livez HTTP/1.1", status: 403, code: "forbidden_origin"),
            Request("GET /livez HTTP/1.1", "Host: example.com", status: 403, code: "forbidden_origin"),
            Request("PRI * HTTP/2.0", "", "SM", status: 400, code: "http_error"),
            Request("GET /livez HTTP/1.1", "Host: localhost", "X\u{0}Y: z", status: 400, code: "http_error"),
            Request(
                "POST /screencapture/start HTTP/1.1",
                "Host: localhost",
                "Content-Length: 2",
                "Transfer-Encoding: chunked",
                status: 400,
                code: "http_error"
            ),
            Request(
                "POST /screencapture/start HTTP/1.1",
                "Host: localhost",
                "Content-Length: -1",
                status: 400,
                code: "http_error"
            ),
            Request(
                "POST /screencapture/start HTTP/1.1",
                "Host: localhost",
                "Content-Length: 99999999999999999999",
                status: 400,
                code: "http_error"
            ),
            Request(
                "GET /screencapture/99999999999999999999 HTTP/1.1",
                "Host: localhost",
                status: 404,
                code: "unknown_session"
            ),
            Request("GET /screencapture/-1 HTTP/1.1", "Host: localhost", status: 404, code: "unknown_session"),
        ]

    @Test("gets the answer that belongs to it, while a viewer gets every picture")
    func answers() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession(["repeat": false])
            let viewer = try await ByteClient(port: session.port)
            try await relay.waitForViewers(1, of: session.id)
            let link = try await LinkClient(greeting: relay)
            for (number, request) in Self.requests.enumerated() {
                let client = try await ByteClient(port: relay.ports.http)
                try await client.send(request.bytes)
                let answer = try await RawRequest.answer(from: client)
                #expect(answer?.status == request.status, "\(request)")
                #expect(answer?.code == request.code, "\(request)")
                #expect(answer?.head.contains("passwd") != true)
                if answer?.status == 405 { #expect(answer?.head.lowercased().contains("\r\nallow: ") == true) }
                try? await client.close()
                let unit = SampleStream.accessUnit(number, key: number == 0)
                try await link.send([unit], session: session.id)
                #expect(try await viewer.read(unit.bytes.count) == unit.bytes)
            }
            #expect(try await relay.session(session.id)["viewers"] == 1)
        }
    }

    @Test(
        "without a key, or with a wrong one, gets nothing but that, while one with a key does",
        arguments: [true, false]
    )
    func keys(shows: Bool) async throws {
        let keys = try Keys()
        let key = try keys.make("ci", .operator)
        try await RunningRelay.run(keys: keys) { relay in
            let authorization = shows ? ["Authorization: Bearer \(APIKey.random().text)"] : []
            for path in ["GET /screencapture", "POST /screencapture/start", "GET /metrics", "POST /drain"] {
                let client = try await ByteClient(port: relay.ports.http)
                let lines = ["\(path) HTTP/1.1", "Host: localhost"] + authorization + ["", ""]
                try await client.send(Array(lines.joined(separator: "\r\n").utf8))
                let answer = try await RawRequest.answer(from: client)
                #expect(answer?.status == 401)
                #expect(answer?.code == (shows ? "wrong_key" : "missing_key"))
                try await client.close()
                #expect(try await relay.call(.GET, "/screencapture", key: key).json == ["sessions": []])
            }
        }
    }
}
