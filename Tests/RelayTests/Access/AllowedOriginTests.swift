import HeliographAPI
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing

@Suite("A page of another origin")
struct AllowedOriginTests {
    private static let origin = "https://ci.example"

    @Test("may call if its origin is allowed, reads the answer, and may show the relay's page in a frame")
    func allowed() async throws {
        try await RunningRelay.run {
            $0.allowedOrigins = [Self.origin]
        } _: { relay in
            let page = [("Origin", Self.origin), ("Sec-Fetch-Site", "cross-site")]
            let started = try await relay.call(.POST, "/v1/sessions", headers: page)
            #expect(started.status == 201)
            #expect(started.headers["access-control-allow-origin"] == [Self.origin])
            let missing = try await relay.call(.GET, "/v1/sessions/99", headers: page)
            #expect(missing.status == 404 && missing.headers["access-control-allow-origin"] == [Self.origin])
            #expect(missing.headers["vary"] == ["Origin"])
            let frame = try await relay.get("/")
            #expect(frame.headers["content-security-policy"].first?.contains("frame-ancestors \(Self.origin)") == true)

            let action = try await relay.call(
                .POST,
                "/v1/devices/default/actions",
                headers: page,
                body: Array(#"{"actions":[{"type":"click","at":[1,1]}]}"#.utf8)
            )
            #expect(action.status == 403 && action.code == "forbidden_caller", "\(action.text)")
            let other = [("Origin", "https://elsewhere.example")]
            let refused = try await relay.call(.POST, "/v1/sessions", headers: other)
            #expect(refused.code == "forbidden_origin" && refused.headers["access-control-allow-origin"].isEmpty)
        }
    }
}
