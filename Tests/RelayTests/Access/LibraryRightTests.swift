import Access
import Foundation
import HeliographAPI
import NIOHTTP1
import RelayTestSupport
import TestSupport
import Testing

@Suite("Rights in the library", .serialized)
struct LibraryRightTests {
    @Test("replace those of the role: a viewer may delete, and an operator may not look")
    func replaced() async throws {
        try await TwoDevices.run { devices in
            let keeper = try devices.keys.make("keeper", .viewer, devices: ["left"], library: [.look, .delete])
            let outsider = try devices.keys.make("outsider", .operator, library: [])
            let item = "/v1/library/\(try #require(devices.items["left"]))"
            func call(_ method: HTTPMethod, _ path: String, _ key: APIKey, _ body: String? = nil) async throws
                -> RunningRelay.Answer
            {
                try await devices.relay.call(method, path, key: key, body: body.map { Array($0.utf8) })
            }
            #expect(try await call(.PATCH, item, keeper, "{\"pinned\":true}").json["pinned"] == true)
            #expect(try await call(.DELETE, item, keeper).status == 200)
            #expect(try await call(.POST, "\(item)/restore", keeper).status == 200)
            #expect(try await call(.GET, "\(item)/file", keeper).status == 200)
            let refused = try await call(.GET, "/v1/library", outsider)
            #expect(refused.status == 403 && refused.code == "forbidden_library", "\(refused.text)")
            #expect(refused.text.contains("lacks the library right look") && refused.text.contains("it has none"))

            let who = try await call(.GET, "/v1/auth", keeper).json
            #expect(who["library"] == ["look", "delete"] && who["role"] == "viewer")
            #expect(try await call(.GET, "/v1/auth", outsider).json["library"] == [])

            // A deleted item keeps its device.
            let other = "/v1/library/\(try #require(devices.items["right"]))"
            #expect(try await call(.DELETE, other, devices.all).status == 200)
            for (method, path) in [(HTTPMethod.POST, "\(other)/restore"), (.DELETE, other), (.GET, "\(other)/file")] {
                let answer = try await call(method, path, keeper)
                #expect(answer.code == "forbidden_device", "\(path): \(answer.text)")
            }
            #expect(try await call(.POST, "\(other)/restore", devices.all).status == 200)
        }
    }

    @Test("hold for `record` in the start and the change of a session, and for no other change")
    func record() async throws {
        try await TwoDevices.run { devices in
            let outsider = try devices.keys.make("outsider", .operator, library: [.look])
            func code(_ method: HTTPMethod, _ path: String, _ body: String, _ key: APIKey) async throws -> String? {
                try await devices.relay.call(method, path, key: key, body: Array(body.utf8)).code
            }
            let session = "/v1/sessions/\(try #require(devices.sessions["left"]))"
            let named = "/v1/devices/left/sessions/door"
            let calls: [(HTTPMethod, String, String)] = [
                (.POST, "/v1/sessions", #"{"device":"left","record":true}"#),
                (.POST, "/screencapture/start", #"{"device":"left","record":true}"#),
                (.PUT, named, #"{"record":true}"#), (.PATCH, session, #"{"record":true}"#),
                (.POST, "\(session)/record/start", ""), (.POST, "\(session)/record/stop", ""),
                (.POST, "/v1/devices/left/sessions/door/record/start", ""),
            ]
            #expect(try await code(.PUT, named, "{}", outsider) == nil)
            for (method, path, body) in calls {
                #expect(try await code(method, path, body, outsider) == "forbidden_library", "\(method) \(path)")
            }
            for (method, path, body) in [
                (HTTPMethod.PATCH, session, #"{"fps":5,"record":false}"#), (.PUT, named, #"{"fps":5}"#),
                (.POST, "/v1/sessions", #"{"device":"left","record":false}"#),
            ] {
                #expect(try await code(method, path, body, outsider) == nil, "\(method) \(path)")
            }
            // It may neither end nor pause a recording.
            #expect(try await code(.PATCH, session, #"{"record":true}"#, devices.all) == nil)
            for body in [#"{"record":false}"#, #"{"recordWhen":"watched"}"#] {
                #expect(try await code(.PATCH, session, body, outsider) == "forbidden_library")
            }
            #expect(try await code(.PUT, named, #"{"record":true}"#, devices.all) == nil)
            #expect(try await code(.PUT, named, "{}", outsider) == "forbidden_library")
            #expect(try await devices.get(session, devices.all).json["record"] == true)

            // The right is enough for the calls that only record.
            let recorder = try devices.keys.make("recorder", .viewer, library: [.record])
            #expect(try await code(.POST, "\(session)/record/stop", "", recorder) == nil)
            #expect(try await code(.PATCH, session, #"{"record":true}"#, recorder) == "forbidden_role")
        }
    }

    @Test("leave a line in the log for each look at a file, each change and each refusal: key, item and device")
    func audit() async throws {
        let log = LogRecorder()
        try await TwoDevices.run(log: log) { devices in
            let outsider = try devices.keys.make("outsider", .operator, library: [])
            let (left, right) = (try #require(devices.items["left"]), try #require(devices.items["right"]))
            let item = "/v1/library/\(left)"
            for (method, path, body) in [
                (HTTPMethod.GET, "\(item)/file", nil), (.GET, "\(item)/clip?start=0", nil),
                (.HEAD, "\(item)/file", nil),
                (.GET, item, nil), (.GET, "/v1/library", nil), (.GET, "/v1/library/changes", nil),
                (.PATCH, item, "{\"labels\":[\"build=42\"]}"), (.DELETE, item, nil), (.POST, "\(item)/restore", nil),
                (.GET, "/v1/library/\(right)/file", nil), (.GET, "/v1/library/7/file", nil),
            ] as [(HTTPMethod, String, String?)] {
                _ = try await devices.relay.call(method, path, key: devices.left, body: body.map { Array($0.utf8) })
            }
            _ = try await devices.get("\(item)/file", outsider)
            let lines = log.lines.filter { $0.message == "audit" }.map(\.metadata)
            let facts = lines.filter { $0["key"] == "left" || $0["key"] == "outsider" }.map { line in
                ["call", "key", "item", "device", "status", "code"].map { line[$0] ?? "-" }.joined(separator: " ")
            }
            #expect(
                facts == [
                    "GET \(item)/file left \(left) left 200 -", "GET \(item)/clip left \(left) left 200 -",
                    "HEAD \(item)/file left \(left) left 200 -", "PATCH \(item) left \(left) left 200 -",
                    "DELETE \(item) left \(left) left 200 -", "POST \(item)/restore left \(left) left 200 -",
                    "GET /v1/library/\(right)/file left \(right) right 403 forbidden_device",
                    "GET /v1/library/7/file left 7 - 404 unknown_item",
                    "GET \(item)/file outsider - - 403 forbidden_library",
                ]
            )
        }
    }
}
