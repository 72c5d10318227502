import HeliographAPI
import Media
import NIOCore
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("Several devices in one relay")
struct DevicesTests {
    private static func device(_ name: String, _ configure: (inout DeviceConfiguration) -> Void = { _ in })
        -> DeviceConfiguration
    {
        var device = DeviceConfiguration(name: name)
        device.source = SourceRequest(kind: .testPattern)
        device.agentExecutable = "/nonexistent/capture-agent"
        configure(&device)
        return device
    }

    @Test("have agents of their own, with their own source, orders and environment")
    func haveTheirOwnAgents() async throws {
        let orders = "echo \"$* $NAME ${#HELIOGRAPH_LINK_TOKEN}\" >&2; exit 4"
        let first = try HelperScript(orders)
        let second = try HelperScript(orders)
        let (one, two) = (first.path, second.path)
        try await RunningRelay.run {
            $0.devices = [
                Self.device("one") {
                    $0.agentExecutable = one
                    $0.environment = ["NAME": "first"]
                    $0.source.fps = 7
                },
                Self.device("two") {
                    $0.agentExecutable = two
                    $0.environment = ["NAME": "second"]
                    $0.stateDirectory = "/var/lib/two"
                    $0.consentTimeout = .seconds(9)
                    $0.input = .off
                },
            ]
        } _: { relay in
            let first = try await relay.post("/screencapture/broadcast/start", ["device": "one"])
            let second = try await relay.post("/screencapture/broadcast/start", ["device": "two"])
            let link = "--relay 127.0.0.1:\(relay.ports.agentLink)"
            #expect(first.json["lastLine"] == .string("\(link) --device one --source test-pattern --fps 7 first 64"))
            let others = "--state-directory=/var/lib/two --consent-timeout 9.0 --input off second 64"
            #expect(second.json["lastLine"] == .string("\(link) --device two --source test-pattern \(others)"))
        }
        #expect(first.runs.count == 1)
        #expect(second.runs.count == 1)
    }

    @Test("have limits of their own")
    func haveTheirOwnLimits() async throws {
        try await RunningRelay.run {
            $0.devices = [
                Self.device("one") {
                    $0.maximumSessions = 1
                    $0.maximumViewers = 1
                },
                Self.device("two") {
                    $0.maximumSessions = 2
                    $0.maximumViewers = 2
                },
            ]
        } _: { relay in
            var ports: [Int] = []
            for (device, limit) in [("one", 1), ("two", 2)] {
                for _ in 0..<limit { ports.append(try await relay.startSession(["device": .string(device)]).port) }
                let more = try await relay.post("/screencapture/start", ["device": .string(device)])
                #expect(more.code == "too_many_sessions")
                #expect(more.text.contains("device \(device) has \(limit) sessions"))
            }
            for (id, limit) in [(SessionID(1), 1), (SessionID(2), 2)] {
                for count in 1...limit {
                    _ = try await ByteClient(port: ports[Int(id) - 1])
                    try await relay.waitForViewers(count, of: id)
                }
                #expect(try await relay.get("/screencapture/\(id)/stream.h264").code == "too_many_viewers")
            }
        }
    }

    @Test("are listed, and only those exist")
    func areListed() async throws {
        try await RunningRelay.run {
            $0.devices = [Self.device("b"), Self.device("a")]
        } _: { relay in
            _ = try await relay.startSession(["device": "b"])
            _ = try await LinkClient(greeting: relay, device: "b")
            _ = try await eventually("device b's agent") {
                try await relay.get("/screencapture/broadcast?device=b").json["source"]?["state"] == "streaming"
                    ? true : nil
            }
            guard case .array(let broadcasts) = try await relay.get("/screencapture/broadcasts").json["broadcasts"]
            else {
                Issue.record("broadcasts are expected")
                return
            }
            #expect(broadcasts.map { $0["device"] } == ["a", "b"])
            #expect(broadcasts.map { $0["state"] } == ["idle", "live"])
            #expect(broadcasts.map { $0["sessions"] } == [0, 1])
            #expect(broadcasts.map { $0["viewers"] } == [0, 0])
            #expect(broadcasts.map { $0["source"]?["width"] } == [.null, 640])
            let other = try await relay.post("/screencapture/start", ["device": "default"])
            #expect(other.code == "unknown_device")
            #expect(other.text.contains("Devices: a, b."))
        }
    }

    @Test("must be named if none is called default")
    func areToBeNamed() async throws {
        try await RunningRelay.run {
            $0.devices = [Self.device("b"), Self.device("a")]
        } _: { relay in
            let answers = [
                try await relay.get("/screencapture/broadcast"), try await relay.post("/screencapture/start"),
                try await relay.post("/screencapture/broadcast/start"),
                try await relay.post("/screencapture/broadcast/stop"),
            ]
            for answer in answers {
                #expect(answer.status == 400)
                #expect(answer.code == "missing_field")
                #expect(answer.json["field"] == "device")
                #expect(answer.text.contains("Devices: a, b."))
            }
        }
    }

    @Test(
        "of which a call means default, or the only one",
        arguments: [(["tv"], "tv"), (["tv", "default"], "default")]
    )
    func aCallMeansTheDefault(names: [String], meant: String) async throws {
        try await RunningRelay.run {
            $0.devices = names.map { Self.device($0) }
        } _: { relay in
            let status = try await relay.broadcast()
            #expect(status["device"] == .string(meant))
            #expect(try await relay.post("/screencapture/start").json["device"] == .string(meant))
            #expect(try await relay.post("/screencapture/broadcast/stop").json["device"] == .string(meant))
        }
    }

    @Test("lose their own sessions when a stop names one of them, and all when it names none")
    func stopsOneDevicesSessions() async throws {
        try await RunningRelay.run {
            $0.devices = [Self.device("one"), Self.device("two")]
        } _: { relay in
            for device in ["one", "two", "one", "two", "two"] {
                _ = try await relay.startSession(["device": .string(device)])
            }
            #expect(try await relay.post("/screencapture/stop", ["device": "one"]).json == ["stopped": 2])
            guard case .array(let left) = try await relay.get("/screencapture").json["sessions"] else {
                Issue.record("sessions are expected")
                return
            }
            #expect(left.map { $0["device"] } == ["two", "two", "two"])
            // A device in the query is the same as one in the body.
            #expect(try await relay.post("/screencapture/stop?device=one").json == ["stopped": 0])
            #expect(try await relay.post("/screencapture/stop?device=two", ["device": "one"]).status == 400)
            #expect(try await relay.post("/screencapture/stop").json == ["stopped": 3])
        }
    }
}
