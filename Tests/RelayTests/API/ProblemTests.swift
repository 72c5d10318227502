import Foundation
import HeliographAPI
import NIOCore
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing

/// A call that the API refuses, and the expected error.
private struct Refusal: Sendable, CustomTestStringConvertible {
    var method = HTTPMethod.POST
    var path = "/screencapture/start"
    var headers: [(String, String)] = []
    let body: String
    let status: Int
    let code: Problem.Code
    var field: String?

    var testDescription: String { "\(method.rawValue) \(path) \(body.prefix(60)) is \(status) \(code.rawValue)" }

    /// A session's start.
    static func start(_ body: String, _ status: Int, _ code: Problem.Code, _ field: String? = nil) -> Refusal {
        Refusal(body: body, status: status, code: code, field: field)
    }

    /// A broadcast's start.
    static func broadcast(_ body: String, _ code: Problem.Code, _ field: String? = nil) -> Refusal {
        Refusal(path: "/screencapture/broadcast/start", body: body, status: code.status, code: code, field: field)
    }

    static func call(_ method: HTTPMethod, _ path: String, _ status: Int, _ code: Problem.Code, body: String = "")
        -> Refusal
    {
        Refusal(method: method, path: path, body: body, status: status, code: code)
    }
}

@Suite("Every refused call says what is wrong")
struct ProblemTests {
    private static let sessionStarts: [Refusal] = [
        .start("{", 400, .brokenJSON), .start("fps=30", 400, .brokenJSON),
        .start("[]", 400, .notAnObject), .start("30", 400, .notAnObject), .start("null", 400, .notAnObject),
        .start("{\"colour\":1}", 400, .unknownField, "colour"), .start("{\"FPS\":30}", 400, .unknownField, "FPS"),
        .start("{\"cursor\":\"hidden\"}", 400, .unknownField, "cursor"),
        .start("{\"quality\":1}", 400, .unknownField, "quality"),
        .start("{\"staticKeyframeInterval\":0.1}", 400, .outOfRange, "staticKeyframeInterval"),
        .start("{\"encoder\":264}", 400, .wrongType, "encoder"),
        .start("{\"encoder\":\"\"}", 400, .outOfRange, "encoder"),
        .start("{\"encoder\":\"\(String(repeating: "x", count: 65))\"}", 400, .outOfRange, "encoder"),
        .start("{\"encoder\":\"x264 -x\"}", 400, .unknownValue, "encoder"),
        .start("{\"encoder\":\"../x264\"}", 400, .unknownValue, "encoder"),
        .start("{\"encoder\":\"encodör\"}", 400, .unknownValue, "encoder"),
        .start("{\"fps\":\"30\"}", 400, .wrongType, "fps"), .start("{\"fps\":true}", 400, .wrongType, "fps"),
        .start("{\"fps\":1.5}", 400, .wrongType, "fps"), .start("{\"fps\":null}", 400, .wrongType, "fps"),
        .start("{\"repeat\":1}", 400, .wrongType, "repeat"), .start("{\"repeat\":\"yes\"}", 400, .wrongType, "repeat"),
        .start("{\"codec\":264}", 400, .wrongType, "codec"), .start("{\"framing\":[]}", 400, .wrongType, "framing"),
        .start("{\"label\":{}}", 400, .wrongType, "label"), .start("{\"device\":1}", 400, .wrongType, "device"),
        .start("{\"keyframeInterval\":false}", 400, .wrongType, "keyframeInterval"),
        .start("{\"width\":15}", 400, .outOfRange, "width"), .start("{\"width\":8193}", 400, .outOfRange, "width"),
        .start("{\"height\":-2}", 400, .outOfRange, "height"), .start("{\"height\":1e30}", 400, .outOfRange, "height"),
        .start("{\"fps\":0}", 400, .outOfRange, "fps"), .start("{\"fps\":241}", 400, .outOfRange, "fps"),
        .start("{\"bitrate\":49999}", 400, .outOfRange, "bitrate"),
        .start("{\"bitrate\":100000001}", 400, .outOfRange, "bitrate"),
        .start("{\"port\":80}", 400, .outOfRange, "port"), .start("{\"port\":65536}", 400, .outOfRange, "port"),
        .start("{\"keyframeInterval\":0.1}", 400, .outOfRange, "keyframeInterval"),
        .start("{\"keyframeInterval\":60.5}", 400, .outOfRange, "keyframeInterval"),
        .start("{\"maxPixels\":255}", 400, .outOfRange, "maxPixels"),
        .start("{\"maxPixels\":67108865}", 400, .outOfRange, "maxPixels"),
        .start("{\"ttl\":0}", 400, .outOfRange, "ttl"), .start("{\"ttl\":86401}", 400, .outOfRange, "ttl"),
        .start("{\"label\":\"\(String(repeating: "x", count: 101))\"}", 400, .outOfRange, "label"),
        .start("{\"label\":\"\(String(repeating: "e\u{301}", count: 51))\"}", 400, .outOfRange, "label"),
        .start("{\"codec\":\"av1\"}", 400, .unknownValue, "codec"),
        .start("{\"framing\":\"rtp\"}", 400, .unknownValue, "framing"),
        .start("{\"width\":null}", 400, .wrongType, "width"),
        .start("{\"device\":\"tv\"}", 404, .unknownDevice, "device"),
        .start("{\"label\":\"\(String(repeating: "x", count: 70_000))\"}", 413, .bodyTooLarge),
    ]

    private static let others: [Refusal] = [
        .broadcast("{\"timeout\":0.05}", .outOfRange, "timeout"),
        .broadcast("{\"timeout\":3601}", .outOfRange, "timeout"),
        .broadcast("{\"timeout\":\"1\"}", .wrongType, "timeout"),
        .broadcast("{\"ttl\":0}", .outOfRange, "ttl"), .broadcast("{\"ttl\":86401}", .outOfRange, "ttl"),
        .broadcast("{\"source\":\"portal\"}", .wrongType, "source"),
        .broadcast("{\"source\":{}}", .missingField, "source.kind"),
        .broadcast("{\"source\":{\"kind\":\"camera\"}}", .unknownValue, "source.kind"),
        .broadcast("{\"source\":{\"kind\":\"portal\",\"fps\":1}}", .unknownField, "source.fps"),
        .broadcast("{\"source\":{\"kind\":\"auto\",\"cursor\":\"huge\"}}", .unknownValue, "source.cursor"),
        .broadcast("{\"source\":{\"kind\":\"node\"}}", .missingField, "source.node"),
        .broadcast("{\"source\":{\"kind\":\"node\",\"node\":7}}", .wrongType, "source.node"),
        .broadcast("{\"source\":{\"kind\":\"mutter\",\"width\":64}}", .missingField, "source.height"),
        .broadcast(
            "{\"source\":{\"kind\":\"mutter\",\"output\":\"DP-1\",\"width\":64,\"height\":64}}",
            .unknownField,
            "source.height"
        ),
        .broadcast("{\"source\":{\"kind\":\"screenshot\",\"output\":7}}", .wrongType, "source.output"),
        .broadcast("{\"source\":{\"kind\":\"screenshot\",\"content\":\"window\"}}", .unknownField, "source.content"),
        .broadcast("{\"source\":{\"kind\":\"test-pattern\",\"width\":64}}", .missingField, "source.height"),
        .broadcast("{\"source\":{\"kind\":\"test-pattern\",\"fps\":300}}", .outOfRange, "source.fps"),
        .broadcast("{\"device\":\"tv\"}", .unknownDevice, "device"), .broadcast("{\"x\":1}", .unknownField, "x"),
        .broadcast("nonsense", .brokenJSON),
        .call(.GET, "/screencapture/broadcast?device=tv", 404, .unknownDevice),
        .call(.GET, "/screencapture/broadcast?x=1", 400, .unknownField),
        .call(.GET, "/screencapture/broadcast?device=7", 404, .unknownDevice),
        .call(.GET, "/screencapture/broadcast?device=default&device=tv", 400, .unknownField),
        .call(.POST, "/screencapture/broadcast/stop", 400, .unknownField, body: "{\"force\":true}"),
        .call(.POST, "/screencapture/broadcast/stop", 404, .unknownDevice, body: "{\"device\":\"tv\"}"),
        .call(.GET, "/screencapture/7", 404, .unknownSession), .call(.GET, "/screencapture/abc", 404, .unknownSession),
        .call(.GET, "/screencapture/-1", 404, .unknownSession), .call(.GET, "/screencapture/0", 404, .unknownSession),
        .call(.GET, "/screencapture/99999999999999999999", 404, .unknownSession),
        .call(.PATCH, "/screencapture/7", 404, .unknownSession),
        .call(.PATCH, "/screencapture/7", 400, .brokenJSON, body: "{"),
        .call(.PATCH, "/screencapture/7", 400, .unknownField, body: "{\"codec\":\"h265\"}"),
        .call(.PATCH, "/screencapture/7", 400, .outOfRange, body: "{\"bitrate\":49999}"),
        .call(.PATCH, "/screencapture/7", 400, .outOfRange, body: "{\"fps\":241}"),
        .call(.PATCH, "/screencapture/7", 400, .outOfRange, body: "{\"width\":15}"),
        .call(.PATCH, "/screencapture/7", 400, .outOfRange, body: "{\"maxPixels\":255}"),
        .call(.PATCH, "/screencapture/7", 400, .wrongType, body: "{\"fps\":null}"),
        .call(.PATCH, "/screencapture/7", 400, .wrongType, body: "{\"height\":\"source\"}"),
        .call(.PATCH, "/screencapture/start", 405, .methodNotAllowed),
        .call(.POST, "/screencapture/7/stop", 404, .unknownSession),
        .call(.POST, "/screencapture/7/keyframe", 404, .unknownSession),
        .call(.POST, "/v1/sessions/7/stop", 404, .unknownSession),
        .call(.POST, "/v1/sessions//stop", 404, .unknownRoute),
        .call(.POST, "/screencapture//stop", 404, .unknownRoute),
        .call(.POST, "//v1/sessions/stop", 404, .unknownRoute),
        .call(.POST, "/v1/devices//broadcast/stop", 404, .unknownRoute),
        .call(.POST, "/v1/devices/tv/broadcast/stop", 404, .unknownDevice),
        .call(.POST, "/v1/devices/default/broadcast/stop", 400, .unknownField, body: "{\"device\":\"default\"}"),
        .call(.POST, "/v1/devices/default/broadcast/stop?device=default", 400, .unknownField),
        .call(.POST, "/screencapture/7/keyframe", 400, .unknownField, body: "{\"x\":1}"),
        .call(.POST, "/screencapture/stop", 400, .notAnObject, body: "[1]"),
        .call(.POST, "/screencapture/stop?devise=tv", 400, .unknownField),
        .call(.POST, "/screencapture/stop?device=tv", 404, .unknownDevice),
        .call(.POST, "/screencapture/broadcast/stop?device=tv", 404, .unknownDevice),
        .call(.GET, "/screencapture?device=tv", 400, .unknownField),
        .call(.GET, "/screencapture/broadcasts?state=live", 400, .unknownField),
        .call(.GET, "/screencapture/7?brief=true", 400, .unknownField),
        .call(.POST, "/screencapture/start?fps=5", 400, .unknownField),
        .call(.GET, "/screencapture/7/stream.ts?fps=5", 400, .unknownField),
        .call(.GET, "/auth?x=1", 400, .unknownField),
        .call(.POST, "/screencapture/stop", 404, .unknownDevice, body: "{\"device\":\"tv\"}"),
        .call(.POST, "/screencapture/stop", 400, .unknownField, body: "{\"id\":1}"),
        .call(.GET, "/screencapture/7/stream.h264", 404, .unknownSession),
        .call(.GET, "/screencapture/7/stream.h265", 404, .unknownSession),
        .call(.GET, "/page", 404, .unknownRoute), .call(.GET, "/screencapture/7/stream.avi", 404, .unknownRoute),
        .call(.GET, "/screencapture/7/stream.ts", 404, .unknownSession),
        .call(.GET, "/screencapture/7/stream.mp4", 404, .unknownSession),
        .call(.POST, "/nowhere/at/all", 404, .unknownRoute),
        .call(.GET, "/screencapture/start", 405, .methodNotAllowed),
        .call(.DELETE, "/screencapture/7", 405, .methodNotAllowed), .call(.PATCH, "/livez", 405, .methodNotAllowed),
        .call(.PUT, "/screencapture/broadcast/start", 405, .methodNotAllowed),
        .call(.TRACE, "/screencapture/7", 405, .methodNotAllowed), .call(.PROPFIND, "/", 405, .methodNotAllowed),
        .call(.RAW(value: "QUERY"), "/screencapture", 405, .methodNotAllowed),
        .call(.RAW(value: "QUERY"), "/nowhere", 404, .unknownRoute),
        Refusal(
            method: .GET,
            path: "/livez",
            headers: [("Host", "evil.example")],
            body: "",
            status: 403,
            code: .forbiddenOrigin
        ),
        Refusal(
            method: .GET,
            path: "/livez",
            headers: [("Host", "127.0.0.1.evil.example:80")],
            body: "",
            status: 403,
            code: .forbiddenOrigin
        ),
        Refusal(headers: [("Origin", "http://evil.example")], body: "{}", status: 403, code: .forbiddenOrigin),
        Refusal(headers: [("Origin", "null")], body: "{}", status: 403, code: .forbiddenOrigin),
        Refusal(headers: [("Origin", "http://localhost:3000")], body: "{}", status: 403, code: .forbiddenOrigin),
    ]

    @Test("with status, code and field, and nothing is left of it")
    func everyRefusal() async throws {
        try await RunningRelay.run { relay in
            for refusal in Self.sessionStarts + Self.others {
                let body = refusal.body.isEmpty ? nil : Array(refusal.body.utf8)
                let answer = try await relay.call(refusal.method, refusal.path, headers: refusal.headers, body: body)
                #expect(answer.status == refusal.status, "\(refusal.testDescription): \(answer.text)")
                #expect(answer.code == refusal.code.rawValue, "\(refusal.testDescription): \(answer.text)")
                #expect(answer.headers["content-type"] == ["application/problem+json"])
                #expect(answer.json["status"] == .integer(refusal.status))
                #expect(answer.json["title"] == .string(refusal.code.title))
                #expect(answer.json["detail"] != nil)
                if let field = refusal.field { #expect(answer.json["field"] == .string(field), "\(answer.text)") }
                if refusal.status == 405 { #expect(!answer.headers["allow"].isEmpty) }
            }
            #expect(try await relay.get("/screencapture").json == ["sessions": []])
            #expect(try await relay.broadcast()["state"] == "idle")
        }
    }

    @Test("when a port is in use or none is left")
    func ports() async throws {
        try await RunningRelay.run {
            $0.sessionPortBase = 65535
        } _: { relay in
            let first = try await relay.startSession()
            let taken = try await relay.post("/screencapture/start", ["port": .integer(first.port)])
            #expect(taken.status == 409)
            #expect(taken.code == "port_in_use")
            #expect(taken.json["field"] == "port")
            let http = try await relay.post("/screencapture/start", ["port": .integer(relay.ports.http)])
            #expect(http.code == "port_in_use")
            let none = try await relay.post("/screencapture/start")
            #expect(none.status == 503)
            #expect(none.code == "no_free_port")
        }
    }

    @Test("when there are too many sessions")
    func tooManySessions() async throws {
        try await RunningRelay.run {
            $0.devices[0].maximumSessions = 2
        } _: { relay in
            for _ in 0..<2 { _ = try await relay.startSession() }
            let third = try await relay.post("/screencapture/start")
            #expect(third.status == 503)
            #expect(third.code == "too_many_sessions")
            #expect(third.headers["retry-after"] == ["5"])
            _ = try await relay.post("/screencapture/1/stop")
            #expect(try await relay.post("/screencapture/start").status == 201)
        }
    }

    @Test("when its body is broken as HTTP")
    func brokenBody() async throws {
        try await RunningRelay.run { relay in
            let client = try await ByteClient(port: relay.ports.http)
            let head = "POST /screencapture/start HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
            try await client.send(Array((head + "no length\r\n").utf8))
            let answer = String(decoding: try await client.readToEnd(), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
        }
    }

    @Test("with a code that docs/reference/api.md explains", arguments: Problem.Code.allCases)
    func everyCodeIsDocumented(code: Problem.Code) throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent("docs/reference/api.md"), encoding: .utf8)
        #expect(text.contains("| \(code.status) | `\(code.rawValue)` |"))
    }
}

@Suite("The API answers")
struct AnswerTests {
    @Test("its own pages and local programs", arguments: ["127.0.0.1", "localhost", "[::1]", "LocalHost", "127.1.2.3"])
    func localHosts(host: String) async throws {
        try await RunningRelay.run { relay in
            let authority = "\(host):\(relay.ports.http)"
            let headers = [("Host", authority), ("Origin", "http://\(authority)")]
            let page = try await relay.call(.GET, "/livez", headers: headers)
            #expect(page.status == 200)
            let program = try await relay.call(.GET, "/livez", headers: [("Host", host)])
            #expect(program.status == 200)
        }
    }

    @Test("livez and metrics")
    func livezAndMetrics() async throws {
        try await RunningRelay.run { relay in
            #expect(try await relay.get("/livez").json["status"] == "ok")
            _ = try await relay.startSession()
            let metrics = try await relay.get("/metrics")
            #expect(metrics.headers["content-type"] == ["text/plain; version=0.0.4; charset=utf-8"])
            let lines = metrics.text.split(separator: "\n")
            let named = Set(lines.filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] })
            for line in lines where !line.hasPrefix("#") {
                let name = line.prefix { $0 != "{" && $0 != " " }
                // A histogram's samples have its name followed by one of these suffixes.
                let suffix = ["_bucket", "_sum", "_count"].first { name.hasSuffix($0) && !named.contains(name) } ?? ""
                #expect(named.contains(name.dropLast(suffix.count)), "\(line)")
            }
            #expect(metrics.text.contains("heliograph_broadcast_state{device=\"default\",state=\"idle\"} 1\n"))
        }
    }

    @Test("HEAD as GET, without the body")
    func heads() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            for path in ["/livez", "/metrics", "/screencapture", "/screencapture/\(session.id)/stream.h264"] {
                let answer = try await relay.call(.HEAD, path)
                #expect(answer.status == 200)
                #expect(answer.body.isEmpty)
            }
            #expect(try await relay.call(.HEAD, "/screencapture/7").status == 404)
            #expect(try await relay.call(.HEAD, "/screencapture/start").status == 405)
            #expect(try await relay.session(session.id)["viewers"] == 0)
        }
    }

    @Test(
        "HEAD without any byte after the head, problems included",
        arguments: ["/livez", "/screencapture/7", "/nowhere"]
    )
    func headBytes(path: String) async throws {
        try await RunningRelay.run { relay in
            let client = try await ByteClient(port: relay.ports.http)
            try await client.send(Array("HEAD \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8))
            let answer = String(decoding: try await client.read(.max), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 "))
            #expect(answer.contains("\r\nContent-Length: "))
            #expect(answer.hasSuffix("\r\n\r\n"))
        }
    }

    @Test("an empty body as an empty object")
    func emptyBodies() async throws {
        try await RunningRelay.run { relay in
            for body in ["", "{}", " { } "] {
                let answer = try await relay.call(.POST, "/screencapture/start", body: Array(body.utf8))
                #expect(answer.status == 201)
            }
        }
    }
}
