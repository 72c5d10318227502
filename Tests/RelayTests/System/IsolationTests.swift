import HeliographAPI
import Media
import NIOCore
import Relay
import RelayTestSupport
import Synchronization
import TestSupport
import Testing
import Wire

/// Tests that every picture of device `good` reaches its viewer while the agent of device `bad` misbehaves.
@Suite("A device's agent does not disturb another device")
struct IsolationTests {
    private static let pictureCount = 300

    /// Runs a relay with both devices, and sends and counts pictures of `good` while `misbehave` runs.
    ///
    /// `misbehave` runs until it is cancelled or has finished.
    private func withGoodDevice(
        badAgent: String = "/nonexistent/capture-agent",
        prepare: @escaping @Sendable (RunningRelay) async throws -> LinkClient?,
        misbehave: @escaping @Sendable (RunningRelay, LinkClient?) async throws -> Void,
        check: @escaping @Sendable (RunningRelay) async throws -> Void
    ) async throws {
        try await RunningRelay.run {
            $0.restartBackoff.first = .milliseconds(1)
            $0.restartBackoff.longest = .milliseconds(5)
            $0.devices = ["bad", "good"].map { name in
                var device = DeviceConfiguration(name: name)
                device.source = SourceRequest(kind: .testPattern)
                device.agentExecutable = badAgent
                return device
            }
        } _: { relay in
            let session = try await relay.startSession(["device": "good"])
            let viewer = try await ByteClient(port: session.port)
            try await relay.waitForViewers(1, of: session.id)
            let link = try await LinkClient(greeting: relay, device: "good", pid: 1)
            let badLink = try await prepare(relay)
            try await withThrowingTaskGroup { group in
                group.addTask { try? await misbehave(relay, badLink) }
                let units = (0..<Self.pictureCount).map { SampleStream.accessUnit($0, key: $0 % 30 == 0, size: 2000) }
                for unit in units {
                    try await link.send(.accessUnit(session.id, unit))
                    // At a limited pace, so that the other device has time to interfere.
                    #expect(try await viewer.read(unit.bytes.count) == unit.bytes)
                }
                try await check(relay)
                group.cancelAll()
            }
            let counters = try await relay.session(session.id)["counters"]?["relay"]
            #expect(counters?["pictures"] == .integer(Self.pictureCount))
            #expect(counters?["picturesOut"] == .integer(Self.pictureCount))
            #expect(counters?["dropped"] == 0)
            #expect(counters?["resyncs"] == 0)
            let status = try await relay.get("/screencapture/broadcast?device=good").json
            #expect(status["state"] == "live")
            #expect(status["restarts"] == 0)
            #expect(status["link"]?["reconnects"] == 0)
            // It may have ended before.
            try? await badLink?.close()
        }
    }

    private func status(_ relay: RunningRelay) async throws -> JSONValue {
        try await relay.get("/screencapture/broadcast?device=bad").json
    }

    @Test("when it crashes again and again")
    func crashLoop() async throws {
        // The first one runs until it is ended; the others exit at once.
        let script = try HelperScript("test $(wc -l < \"$(dirname \"$0\")/runs\") -gt 1 && exit 5; exec sleep 1000")
        let path = script.path
        try await withGoodDevice(badAgent: path) { relay in
            async let answer = relay.post("/screencapture/broadcast/start", ["device": "bad"])
            _ = try await eventually("the start") {
                try await status(relay)["state"] == "starting" ? true : nil
            }
            let link = try await LinkClient(greeting: relay, device: "bad", pid: 2)
            #expect(try await answer.status == 200)
            return link
        } misbehave: { _, link in
            HelperScript.end(startedBy: path)
            try await link?.close()
        } check: { relay in
            _ = try await eventually("ten restarts") {
                let restarts = try await status(relay)["restarts"]
                return if case .integer(let count) = restarts, count >= 10 { true } else { nil }
            }
        }
        for pid in script.runs { try await HelperScript.awaitEnd(of: pid) }
    }

    @Test("when it writes to its standard error without end")
    func endlessWords() async throws {
        let script = try HelperScript("while :; do echo nonsense >&2; done")
        let path = script.path
        try await withGoodDevice(badAgent: path) { _ in
            nil
        } misbehave: { relay, _ in
            _ = try await relay.post("/screencapture/broadcast/start", ["device": "bad", "timeout": 120])
        } check: { relay in
            let answer = try await relay.post("/screencapture/broadcast/stop", ["device": "bad"])
            #expect(answer.json["wasRunning"] == true)
        }
        #expect(script.runs.count == 1)
        for pid in script.runs { try await HelperScript.awaitEnd(of: pid) }
    }

    @Test("when it floods its link with pictures, its own session's and the other's")
    func pictureFlood() async throws {
        try await withGoodDevice { relay in
            _ = try await relay.startSession(["device": "bad"])
            return try await LinkClient(greeting: relay, device: "bad", pid: 2)
        } misbehave: { _, link in
            guard let request = try await link?.firstRequest(of: 2) else { return }
            let own = Packet.accessUnit(2, SampleStream.accessUnit(0, key: true, size: 100_000, request: request))
                .encoded()
            let others = Packet.accessUnit(1, SampleStream.accessUnit(0, key: true, request: 1)).encoded()
            while !Task.isCancelled { try await link?.send(bytes: own + others) }
        } check: { relay in
            _ = try await eventually("the flood") {
                let pictures = try await relay.session(2)["counters"]?["relay"]?["pictures"]
                return if case .integer(let count) = pictures, count > 100 { true } else { nil }
            }
        }
    }

    @Test("when it floods its link with reports: it loses the link for it")
    func reportFlood() async throws {
        try await withGoodDevice { relay in
            try await LinkClient(greeting: relay, device: "bad", pid: 2)
        } misbehave: { _, link in
            let states = [SourceStatus.State.opening, .streaming].map {
                Packet.status(SourceStatus(state: $0)).encoded()
            }
            let flood = [[UInt8]](repeating: states.flatMap(\.self), count: 5000).flatMap(\.self)
            try await link?.send(bytes: flood)
        } check: { relay in
            // It is away for a while, then idle.
            _ = try await eventually("the end of the link") {
                try await status(relay)["state"] == "live" ? nil : true
            }
        }
    }

    @Test("when it sends garbage: it loses the link for it, as often as it comes back")
    func garbage() async throws {
        try await withGoodDevice { _ in
            nil
        } misbehave: { relay, _ in
            while !Task.isCancelled {
                let link = try await LinkClient(greeting: relay, device: "bad", pid: 2)
                try await link.send(bytes: [UInt8](repeating: 0x20, count: 1 << 20))
                try await link.waitForEnd()
            }
        } check: { relay in
            _ = try await eventually("ten links") {
                let reconnects = try await status(relay)["link"]?["reconnects"]
                return if case .integer(let count) = reconnects, count >= 10 { true } else { nil }
            }
        }
    }

    @Test("when it reads nothing")
    func readsNothing() async throws {
        try await withGoodDevice { relay in
            let silent = try await ByteClient(port: relay.ports.agentLink, autoRead: false)
            try await silent.send(Packet.hello(relay.hello(device: "bad", pid: 2)).encoded())
            return nil
        } misbehave: { relay, _ in
            while !Task.isCancelled {
                let session = try await relay.startSession(["device": "bad"])
                _ = try await relay.post("/screencapture/\(session.id)/stop")
            }
        } check: { relay in
            _ = try await eventually("some sessions") { () -> Bool? in
                let session = try await relay.startSession(["device": "bad"])
                _ = try await relay.post("/screencapture/\(session.id)/stop")
                return session.id > 20 ? true : nil
            }
        }
    }
}
