import Foundation
import HeliographAPI
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("Sessions with names", .serialized)
struct NamedSessionTests {
    private static let door = "/v1/devices/default/sessions/door"

    @Test("are started, changed and ended at their address, as often as one likes")
    func lifeCycle() async throws {
        try await RunningRelay.run { relay in
            let started = try await relay.call(.PUT, Self.door, body: Array(#"{"fps": 10, "label": "a"}"#.utf8))
            #expect(started.status == 201, "\(started.text)")
            #expect(started.headers["location"] == [Self.door])
            #expect(started.json["name"] == "door" && started.json["fps"] == 10)
            let same = try await relay.call(.PUT, Self.door, body: Array(#"{"fps": 10, "label": "a"}"#.utf8))
            #expect(same.status == 200 && same.json["id"] == started.json["id"], "\(same.text)")
            let changed = try await relay.call(.PUT, Self.door, body: Array(#"{"ttl": 60}"#.utf8))
            #expect(changed.status == 200 && changed.json["fps"] == 30 && changed.json["label"] == .null)
            #expect(changed.json["id"] == started.json["id"] && changed.json["ttl"] == 60)
            #expect(changed.json["port"] == started.json["port"])
            #expect(try await relay.get(Self.door).json["id"] == started.json["id"])
            #expect(try await relay.patch(Self.door, ["fps": 5]).json["fps"] == 5)
            for count in [1, 0] {
                let ended = try await relay.call(.DELETE, Self.door)
                #expect(ended.status == 200 && ended.json["stopped"] == .integer(count), "\(ended.text)")
            }
            let gone = try await relay.get(Self.door)
            #expect(gone.status == 404 && gone.code == "unknown_session", "\(gone.text)")
        }
    }

    @Test("stay as they are if a field cannot change while they run")
    func unchangeable() async throws {
        try await RunningRelay.run { relay in
            let started = try await relay.call(.PUT, Self.door)
            for (body, field) in [
                (#"{"codec": "h265"}"#, "codec"), (#"{"repeat": false}"#, "repeat"),
                (#"{"keyframeInterval": 3}"#, "keyframeInterval"), (#"{"framing": "scrcpy"}"#, "framing"),
                (#"{"port": 1024, "fps": 5}"#, "port"),
            ] {
                let answer = try await relay.call(.PUT, Self.door, body: Array(body.utf8))
                #expect(answer.status == 409 && answer.code == "not_changeable", "\(answer.text)")
                #expect(answer.json["field"] == .string(field))
            }
            #expect(try await relay.get(Self.door).json["fps"] == 30)
            guard case .integer(let port)? = started.json["port"] else { throw NeverCame(description: "a port") }
            #expect(try await relay.call(.PUT, Self.door, body: Array(#"{"port": \#(port)}"#.utf8)).status == 200)
            for path in ["a.b", "a%20b", String(repeating: "a", count: 65)] {
                let answer = try await relay.call(.PUT, "/v1/devices/default/sessions/\(path)")
                #expect(answer.status == 400 && answer.code == "unknown_value", "\(answer.text)")
            }
            let elsewhere = try await relay.call(.PUT, "/v1/devices/nowhere/sessions/door")
            #expect(elsewhere.status == 404 && elsewhere.code == "unknown_device")
        }
    }

    @Test("are one session, however many callers start them at once")
    func together() async throws {
        try await RunningRelay.run { relay in
            let answers = try await withThrowingTaskGroup { group in
                for _ in 0..<20 { group.addTask { try await relay.call(.PUT, Self.door) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count { $0.status == 201 } == 1 && answers.count { $0.status == 200 } == 19)
            #expect(Set(answers.map { $0.json["id"]?.text }).count == 1)
        }
    }

    @Test("and others are listed by device, name, label and state, in brief if asked to")
    func lists() async throws {
        try await RunningRelay.run {
            $0.devices = ["left", "right"].map { DeviceConfiguration(name: $0) }
        } _: { relay in
            for (device, name) in [("left", "a"), ("left", "b"), ("right", "a")] {
                let body = #"{"label": "\#(device)-\#(name)", "onDemand": \#(name == "b")}"#
                _ = try await relay.call(.PUT, "/v1/devices/\(device)/sessions/\(name)", body: Array(body.utf8))
            }
            func labels(_ query: String) async throws -> [String] {
                let answer = try await relay.get("/v1/sessions\(query)")
                #expect(answer.status == 200, "\(answer.text)")
                return (answer.json["sessions"]?.elements ?? []).compactMap { $0["label"]?.string }
            }
            #expect(try await labels("") == ["left-a", "left-b", "right-a"])
            #expect(try await labels("?device=left") == ["left-a", "left-b"])
            #expect(try await labels("?name=a") == ["left-a", "right-a"])
            #expect(try await labels("?label=right-a") == ["right-a"])
            #expect(try await labels("?state=asleep") == ["left-b"])
            #expect(try await labels("?state=waiting&device=left&brief=true") == ["left-a"])
            let brief = try await relay.get("/v1/sessions?brief=true&name=b").json["sessions"]?.elements?.first
            let names = Set((brief?.members ?? []).map(\.name))
            #expect(names == ["id", "device", "name", "label", "state", "viewers", "port"])
            let wrong = try await relay.get("/v1/sessions?state=broken")
            #expect(wrong.status == 400 && wrong.code == "unknown_value")
        }
    }

    @Test("all end together only for callers who ask for it, or who use the former address")
    func stopAll() async throws {
        try await RunningRelay.run { relay in
            _ = try await relay.call(.PUT, Self.door)
            for body: JSONValue? in [nil, [:], ["all": false]] {
                let refused = try await relay.post("/v1/sessions/stop", body)
                #expect(refused.status == 400 && refused.code == "missing_field", "\(refused.text)")
            }
            #expect(try await relay.post("/v1/sessions/stop", ["all": true]).json["stopped"] == 1)
            _ = try await relay.call(.PUT, Self.door)
            #expect(try await relay.post("/v1/sessions/stop?device=default").json["stopped"] == 1)
            _ = try await relay.call(.PUT, Self.door)
            #expect(try await relay.post("/screencapture/stop").json["stopped"] == 1)
        }
    }

    @Test("keep them when the relay is started again")
    func kept() async throws {
        let scratch = try Scratch()
        for isFirst in [true, false] {
            try await RunningRelay.run {
                $0.stateFile = scratch.file("state.json").path
            } _: { relay in
                if isFirst { _ = try await relay.call(.PUT, Self.door, body: Array(#"{"fps": 7}"#.utf8)) }
                let session = try await relay.get(Self.door)
                #expect(session.json["fps"] == 7, "\(session.text)")
            }
        }
    }
}

@Suite("A device's own address", .serialized)
struct SharedSessionTests {
    private static let picture = "/v1/devices/default/snapshot.png"

    @Test("stands for the session shared, which a PUT may have started")
    func put() async throws {
        try await RunningRelay.run { relay in
            let none = try await relay.get(Self.picture)
            #expect(none.status == 404 && none.code == "unknown_session", "\(none.text)")
            _ = try await relay.call(.PUT, "/v1/devices/default/sessions/shared")
            let sourceless = try await relay.get(Self.picture)
            #expect(sourceless.status == 503 && sourceless.code == "no_picture", "\(sourceless.text)")
        }
    }

    @Test("starts it and the broadcast where the configuration allows that, not for a person to be asked, nor for HEAD")
    func onDemand() async throws {
        for (kind, code) in [(SourceKind.testPattern, "agent_not_started"), (.portal, "not_broadcast")] {
            try await RunningRelay.run {
                $0.devices[0].isOnDemand = true
                $0.devices[0].source = SourceRequest(kind: kind)
            } _: { relay in
                #expect(try await relay.call(.HEAD, Self.picture).status == 404)
                for path in [Self.picture, "/v1/devices/default/wait?until=static"] {
                    let answer = try await relay.get(path)
                    #expect(answer.code == code, "\(answer.text)")
                }
                let foreign = try await relay.call(
                    .GET,
                    Self.picture,
                    headers: [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Dest", "image")]
                )
                #expect(foreign.status == 403 && foreign.code == "forbidden_origin", "\(foreign.text)")
                // An agent that was started by hand.
                let link = try await LinkClient(greeting: relay)
                try await relay.waitForState("live")
                let head = try await relay.call(.HEAD, "/v1/devices/default/stream.mp4")
                #expect(head.status == 404)
                let wait = try await relay.get("/v1/devices/default/wait?until=static&timeout=0")
                #expect(wait.status == 200 && wait.json["name"] == "shared", "\(wait.text)")
                let session = try await relay.get("/v1/devices/default/sessions/shared").json
                #expect(session["onDemand"] == true && session["ttl"] == 60)
                withExtendedLifetime(link) {}
            }
        }
    }
}
