import Access
import Foundation
import HeliographAPI
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing

@Suite("A web page's login")
struct LoginTests {
    /// Logs in and returns the cookie as a browser sends it.
    private static func logIn(_ relay: RunningRelay, _ key: APIKey) async throws -> String {
        let answer = try await relay.post("/auth/login", ["key": .string(key.text)])
        #expect(answer.status == 200)
        let field = try #require(answer.headers["set-cookie"].first)
        let parts = field.split(separator: "; ").map(String.init)
        #expect(parts.contains("HttpOnly") && parts.contains("SameSite=Strict") && parts.contains("Path=/"))
        #expect(parts[0].hasPrefix("heliograph-\(relay.ports.http)="))
        #expect(!field.contains(key.text))
        return parts[0]
    }

    @Test("lets calls, pictures and WebSockets in by a cookie, until its key is revoked")
    func cookie() async throws {
        let keys = try Keys()
        let key = try keys.make("ci", .operator)
        let file = keys.file.path
        try await RunningRelay.run {
            ($0.keysFile, $0.allowedOrigins) = (file, ["https://ci.example"])
        } _: { relay in
            let cookie = try await Self.logIn(relay, key)
            let origin = "http://127.0.0.1:\(relay.ports.http)"
            let who = try await relay.call(.GET, "/auth", headers: [("Cookie", "theme=dark; \(cookie)")])
            #expect(who.json["name"] == "ci")
            let page = [("Cookie", cookie), ("Origin", origin)]
            #expect(try await relay.call(.POST, "/screencapture/start", headers: page).status == 201)
            let socket = try await WebSocketClient(relay, session: 1, headers: ["Cookie": cookie, "Origin": origin])
            #expect(socket.wasUpgraded)
            // Pages that may call show keys of their own.
            let other = try await WebSocketClient(
                relay,
                session: 1,
                headers: ["Cookie": cookie, "Origin": "https://ci.example"]
            )
            #expect(other.answer.hasPrefix("HTTP/1.1 401 "))
            let login = try await relay.call(
                .POST,
                "/auth/login",
                headers: [("Origin", "https://ci.example")],
                body: Array(#"{"key":"\#(key.text)"}"#.utf8)
            )
            #expect(login.code == "forbidden_origin" && login.headers["set-cookie"].isEmpty)
            let without = try await WebSocketClient(relay, session: 1, headers: ["Origin": origin])
            #expect(without.answer.hasPrefix("HTTP/1.1 401 "))
            let logout = try await relay.call(.POST, "/auth/logout", headers: page)
            #expect(logout.headers["set-cookie"].first?.contains("Max-Age=0") == true)
            try keys.revoke("ci")
            #expect(try await relay.call(.GET, "/auth", headers: [("Cookie", cookie)]).code == "missing_key")
            while try await socket.next() != nil {}
            // Another key with the same name is a different key.
            _ = try keys.make("ci", .operator)
            #expect(try await relay.call(.GET, "/auth", headers: [("Cookie", cookie)]).code == "missing_key")
        }
    }

    @Test("cannot be used by other pages")
    func otherPages() async throws {
        let keys = try Keys()
        let key = try keys.make("ci", .operator)
        try await RunningRelay.run(keys: keys) { relay in
            let cookie = try await Self.logIn(relay, key)
            let strangers: [[(String, String)]] = [
                [], [("Origin", "http://evil.example")], [("Origin", "null")], [("Origin", "http://127.0.0.1:3000")],
                [("Sec-Fetch-Site", "cross-site")], [("Sec-Fetch-Site", "same-site")], [("Sec-Fetch-Site", "none")],
                [("Sec-Fetch-Site", "cross-site"), ("Origin", "http://127.0.0.1:\(relay.ports.http)")],
            ]
            for headers in strangers {
                let answer = try await relay.call(
                    .POST,
                    "/screencapture/start",
                    headers: headers + [("Cookie", cookie)]
                )
                #expect(answer.code == "forbidden_origin", "\(headers)")
            }
            let own = [("Sec-Fetch-Site", "same-origin"), ("Cookie", cookie)]
            #expect(try await relay.call(.POST, "/screencapture/start", headers: own).status == 201)
            let socket = try await WebSocketClient(
                relay,
                session: 1,
                headers: ["Cookie": cookie, "Origin": "http://127.0.0.1:3000"]
            )
            #expect(socket.answer.hasPrefix("HTTP/1.1 403 "))
            // The relay's own pages, by every name that reaches them.
            let named = [("Host", "wall.example"), ("Origin", "https://wall.example")]
            #expect(try await relay.call(.GET, "/livez", headers: named).status == 200)
        }
    }

    @Test("fetches by a page of another site are refused, except for the relay's page, links and snapshots")
    func otherSites() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            func code(_ path: String, _ site: String, _ destination: String, _ cookie: String = "a=b") async throws
                -> String?
            {
                let headers = [("Sec-Fetch-Site", site), ("Sec-Fetch-Dest", destination), ("Cookie", cookie)]
                return try await relay.call(.GET, path, headers: headers).code
            }
            let login = "heliograph-\(relay.ports.http)=x"
            let wait = "/screencapture/\(session.id)/wait?until=changed&timeout=0"
            let snapshot = "/screencapture/\(session.id)/snapshot.jpg"
            for site in ["cross-site", "same-site"] {
                for destination in ["empty", "image", "iframe"] {
                    #expect(try await code(wait, site, destination) == "forbidden_origin")
                }
                #expect(try await code(snapshot, site, "empty") == "forbidden_origin")
                #expect(try await code(snapshot, site, "image") == "no_picture")
                #expect(try await code(snapshot, site, "image", login) == "forbidden_origin")
                #expect(try await code(wait, site, "document") == "wait_timeout")
                #expect(try await code("/livez", site, "empty") == nil)
            }
            #expect(try await code(wait, "same-origin", "empty") == "wait_timeout")
        }
    }

    @Test("a page of another site drives no relay without keys either")
    func withoutKeys() async throws {
        try await RunningRelay.run { relay in
            let site = ("Sec-Fetch-Site", "cross-site")
            let answer = try await relay.call(.POST, "/screencapture/start", headers: [site], body: Array("{}".utf8))
            #expect(answer.code == "forbidden_origin")
            #expect(try await relay.call(.GET, "/", headers: [site]).status == 200, "a link to the page is none")
        }
    }
}

@Suite("A login's cookie")
struct LoginCookieTests {
    private static func ring(_ name: String) throws -> KeyRing {
        var ring = KeyRing()
        _ = try ring.make(name, KeyRing.Terms(.viewer), at: .distantPast)
        return ring
    }

    @Test("is good for its key and its time, in one relay")
    func lifetime() throws {
        let ring = try Self.ring("wall")
        let cookies = LoginCookie()
        let value = cookies.value(for: ring.keys[0], now: 1000)
        #expect(cookies.key(of: value, in: ring, now: 1000) == ring.keys[0])
        #expect(cookies.key(of: value, in: ring, now: 999 + LoginCookie.lifetime) == ring.keys[0])
        #expect(cookies.key(of: value, in: ring, now: 1000 + LoginCookie.lifetime) == nil)
        #expect(cookies.key(of: value, in: try Self.ring("wall"), now: 1000) == nil, "another key of that name")
        #expect(cookies.key(of: value, in: KeyRing(), now: 1000) == nil)
        #expect(LoginCookie().key(of: value, in: ring, now: 1000) == nil, "another relay")
    }

    @Test("cannot be changed")
    func forged() throws {
        let ring = try Self.ring("wall")
        let cookies = LoginCookie()
        let value = cookies.value(for: ring.keys[0], now: 1000)
        let parts = value.split(separator: ".").map(String.init)
        let forgeries = [
            "", ".", "..", "wall", "\(parts[0]).\(parts[1])", "\(parts[0]).\(parts[1]).", "\(value).", "\(value)00",
            "\(parts[0]).99999999999.\(parts[2])", "\(parts[0]).x.\(parts[2])", "other.\(parts[1]).\(parts[2])",
            String(value.dropLast()) + (value.hasSuffix("0") ? "1" : "0"), String(repeating: "a", count: 300),
        ]
        for forgery in forgeries { #expect(cookies.key(of: forgery, in: ring, now: 1000) == nil, "\(forgery)") }
    }
}
