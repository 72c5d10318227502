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
        let archivist = try keys.make("archivist", .viewer, library: Set(LibraryRight.allCases))
        let outsider = try keys.make("outsider", .operator, library: [])
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
                    .replacing("{item}", with: "999")
                    .replacing("{playlist}", with: "none")
                    .replacing("{key}", with: "none")
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
                    let isOfLibrary = route.access.rawValue.hasPrefix("library:")
                    let codes = [
                        401: "missing_key", 403: isOfLibrary ? "forbidden_library" : "forbidden_role",
                        429: "too_many_failures",
                    ]
                    guard method != .HEAD || answer.status < 400 else { return codes[answer.status] ?? "other" }
                    return answer.code
                }
                let denials: Set = [
                    "missing_key", "wrong_key", "too_many_failures", "forbidden_role", "forbidden_library",
                ]
                let unserved: Set = ["unknown_route", "method_not_allowed"]
                let name = "\(method) \(path)"
                let (none, wrong) = (try await code(nil), try await code(APIKey.random()))
                let (watches, drives) = (try await code(viewer), try await code(op))
                let acts = try await code(controller)
                let (keeps, abstains) = (try await code(archivist), try await code(outsider))
                #expect(!unserved.contains(drives ?? ""), "\(name)")
                switch route.access {
                case .anyone:
                    for answer in [none, wrong, watches, acts, drives, keeps, abstains] {
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
                    #expect(keeps == watches && abstains == drives, "\(name): rights in the library change nothing")
                case .look, .record, .delete:
                    #expect(none == "missing_key", "\(name)")
                    #expect(
                        ["wrong_key", "too_many_failures", "missing_key"].contains(wrong),
                        "\(name): \(wrong ?? "")"
                    )
                    for answer in [watches, acts] {
                        let isDenied = denials.contains(answer ?? "")
                        #expect(isDenied == (route.access != .look), "\(name): \(answer ?? "")")
                        #expect(!isDenied || answer == "forbidden_library", "\(name)")
                    }
                    for answer in [drives, keeps] {
                        #expect(!denials.contains(answer ?? ""), "\(name): \(answer ?? "")")
                    }
                    #expect(abstains == "forbidden_library", "\(name): \(abstains ?? "")")
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
