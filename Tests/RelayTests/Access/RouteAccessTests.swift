import Access
import Foundation
import HeliographAPI
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing

@Suite("Who may call what")
struct RouteAccessTests {
    @Test("is asked of every caller, on every route")
    func enforced() async throws {
        let keys = try Keys()
        let (viewer, op) = (try keys.make("wall", .viewer), try keys.make("ci", .operator))
        let controller = try keys.make("robot", .controller)
        let routes = Routes.all.flatMap(\.addresses)
        let calls = routes.flatMap { route in
            (route.method == .get ? [HTTPMethod.GET, .HEAD] : [HTTPMethod(rawValue: route.method.rawValue)])
                .map { (route, $0) }
        }
        #expect(calls.count > 80)
        try await RunningRelay.run(keys: keys) { relay in
            for (route, method) in calls {
                // Nothing comes of calls with a field that no route knows: one would end the relay, another never end.
                let path = route.path(session: 999)
                    .replacing("{file}", with: "app.js")
                    .replacing("{device}", with: "default")
                    .replacing("{name}", with: "nobody")
                    .replacing("{application}", with: "none")
                func code(_ key: APIKey?) async throws -> String? {
                    let isRead = method == .GET || method == .HEAD
                    let body = isRead ? nil : Array(#"{"nonsense": 1}"#.utf8)
                    let answer = try await relay.call(
                        method,
                        isRead ? "\(path)?nonsense=1" : path,
                        key: key,
                        body: body
                    )
                    // An answer to HEAD has no body to tell the code.
                    let codes = [401: "missing_key", 403: "forbidden_role", 429: "too_many_failures"]
                    guard method != .HEAD || answer.status < 400 else { return codes[answer.status] ?? "other" }
                    return answer.code
                }
                let denials: Set = ["missing_key", "wrong_key", "too_many_failures", "forbidden_role"]
                let unserved: Set = ["unknown_route", "method_not_allowed"]
                let name = "\(method) \(path)"
                let (none, wrong) = (try await code(nil), try await code(APIKey.random()))
                let (watches, drives) = (try await code(viewer), try await code(op))
                let acts = try await code(controller)
                #expect(!unserved.contains(drives ?? ""), "\(name)")
                switch route.access {
                case .anyone:
                    for answer in [none, wrong, watches, acts, drives] {
                        #expect(!denials.contains(answer ?? ""), "\(name)")
                    }
                case .viewer, .controller, .operator:
                    #expect(none == "missing_key", "\(name)")
                    #expect(
                        ["wrong_key", "too_many_failures", "missing_key"].contains(wrong),
                        "\(name): \(wrong ?? "")"
                    )
                    if route.access == .viewer {
                        #expect(!denials.contains(watches ?? ""), "\(name): \(watches ?? "")")
                    } else {
                        #expect(watches == "forbidden_role", "\(name)")
                    }
                    if route.access == .operator {
                        #expect(acts == "forbidden_role", "\(name)")
                    } else {
                        #expect(!denials.contains(acts ?? ""), "\(name): \(acts ?? "")")
                    }
                    #expect(!denials.contains(drives ?? ""), "\(name): \(drives ?? "")")
                }
            }
        }
    }

    @Test("does not matter while access is off")
    func off() async throws {
        let keys = try Keys()
        try await RunningRelay.run(keys: keys) { relay in
            let answer = try await relay.get("/auth")
            #expect(answer.status == 200)
            #expect(answer.json["access"] == false)
            #expect(answer.json["role"] == "operator")
            #expect(answer.json["name"] == JSONValue.null)
            #expect(try await relay.post("/screencapture/start").status == 201)
            let login = try await relay.post("/auth/login", ["key": "whatever"])
            #expect(login.status == 200)
            #expect(login.headers["set-cookie"].isEmpty)
        }
    }
}
