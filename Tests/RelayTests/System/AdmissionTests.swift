import HeliographAPI
import Media
import NIOCore
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("The relay refuses an agent with a reason and goes on")
struct AdmissionTests {
    /// Expects that the link is refused with `code`, and that the relay then serves another agent.
    private func expectRefusal(
        _ code: Reject.Code,
        of link: LinkClient,
        by relay: RunningRelay,
        reason: String? = nil
    ) async throws {
        let reject = try await link.first { packet in
            if case .reject(let reject) = packet { reject } else { nil }
        }
        #expect(reject.code == code)
        #expect(!reject.reason.isEmpty)
        if let reason { #expect(reject.reason.contains(reason), "\(reject.reason)") }
        #expect(try await link.next() == nil, "the link closes after a REJECT")
        let metrics = try await relay.get("/metrics").text
        #expect(metrics.contains("heliograph_agents_refused_total{code=\"\(code.rawValue)\"} 1"))
        let next = try await LinkClient(greeting: relay)
        try await relay.waitForState("live")
        try await next.close()
    }

    @Test("when it shows a wrong token")
    func wrongToken() async throws {
        try await RunningRelay.run { relay in
            let link = try await LinkClient(port: relay.ports.agentLink)
            var hello = relay.hello()
            hello.token = "not the token"
            try await link.send(.hello(hello))
            try await expectRefusal(.wrongToken, of: link, by: relay)
        }
    }

    @Test("when it names an unknown device")
    func unknownDevice() async throws {
        try await RunningRelay.run { relay in
            let link = try await LinkClient(port: relay.ports.agentLink)
            try await link.send(.hello(relay.hello(device: "nowhere")))
            try await expectRefusal(.unknownDevice, of: link, by: relay, reason: "nowhere")
        }
    }

    @Test("when it speaks another version")
    func wrongVersion() async throws {
        try await RunningRelay.run { relay in
            let link = try await LinkClient(port: relay.ports.agentLink)
            var bytes = Packet.hello(relay.hello()).encoded()
            bytes[4] = 9
            try await link.send(bytes: bytes)
            try await expectRefusal(.protocolError, of: link, by: relay, reason: "version 9")
        }
    }

    @Test("when it sends garbage, a lot of it")
    func garbage() async throws {
        try await RunningRelay.run { relay in
            let link = try await LinkClient(port: relay.ports.agentLink)
            try await link.send(bytes: [UInt8](repeating: 0x20, count: 1 << 20))
            try await expectRefusal(.protocolError, of: link, by: relay, reason: "HLGW")
        }
    }

    @Test("when its first packet is another")
    func anotherFirstPacket() async throws {
        try await RunningRelay.run { relay in
            let link = try await LinkClient(port: relay.ports.agentLink)
            try await link.send(.status(.streaming))
            try await expectRefusal(.protocolError, of: link, by: relay, reason: "before HELLO")
        }
    }

    @Test("when its HELLO announces more than a HELLO needs")
    func longHello() async throws {
        try await RunningRelay.run { relay in
            let link = try await LinkClient(port: relay.ports.agentLink)
            try await link.send(bytes: [0x48, 0x4C, 0x47, 0x57, 1, 65, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1])
            try await expectRefusal(.protocolError, of: link, by: relay, reason: "65536")
        }
    }

    @Test("when it says nothing")
    func noHello() async throws {
        try await RunningRelay.run {
            // Long enough, even on a busy machine, for the next agent, which does send HELLO.
            $0.helloTimeout = .seconds(2)
        } _: { relay in
            let link = try await LinkClient(port: relay.ports.agentLink)
            try await expectRefusal(.helloTimeout, of: link, by: relay)
        }
    }

}

@Suite("An admitted link")
struct AdmittedLinkTests {
    @Test("is lost when it is silent")
    func theWatchdogBites() async throws {
        try await RunningRelay.run {
            $0.watchdog = .milliseconds(300)
        } _: { relay in
            let link = try await LinkClient(port: relay.ports.agentLink)
            try await link.send(.hello(relay.hello()))
            guard case .welcome(let welcome) = try await link.next() else {
                Issue.record("WELCOME is expected")
                return
            }
            #expect(welcome.heartbeatInterval == 100)
            #expect(welcome.maximumQueuedMedia == 1000)
            try await link.waitForEnd()
            try await relay.waitForState("away")
        }
    }

    @Test("is told why it ends when it breaks the protocol")
    func isToldWhyItEnds() async throws {
        try await RunningRelay.run { relay in
            let link = try await LinkClient(greeting: relay)
            try await link.send(.hello(relay.hello()))
            let reject = try await link.first { packet in
                if case .reject(let reject) = packet { reject } else { nil }
            }
            #expect(reject.code == .protocolError)
            #expect(try await link.next() == nil)
            try await relay.waitForState("away")
        }
    }

    @Test("is told the device's sessions, earlier and later ones, and their ends")
    func isGivenSessions() async throws {
        try await RunningRelay.run { relay in
            let before = try await relay.startSession(["width": 641, "height": 360, "fps": 15, "bitrate": 100_000])
            let link = try await LinkClient(greeting: relay)
            guard case .sessionAdd(before.id, let parameters) = try await link.next() else {
                Issue.record("SESSION_ADD is expected")
                return
            }
            #expect(parameters.size.width == 640)
            #expect(parameters.size.height == 360)
            #expect(parameters.fps == 15)
            #expect(parameters.bitrate == 100_000)
            #expect(parameters.keyframeInterval == 2000)
            #expect(parameters.repeat)
            #expect(parameters.epoch > 0)
            let later = try await relay.startSession()
            guard case .sessionAdd(later.id, _) = try await link.next() else {
                Issue.record("SESSION_ADD is expected")
                return
            }
            _ = try await relay.post("/screencapture/\(before.id)/stop")
            #expect(try await link.next() == .sessionRemove(before.id))
        }
    }

    @Test("feeds no session that is not there, and goes on")
    func feedsNoUnknownSession() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession(["repeat": false])
            let link = try await LinkClient(greeting: relay)
            try await link.send([SampleStream.accessUnit(0, key: true, request: 1)], session: 999)
            try await link.send([SampleStream.accessUnit(0, key: true)], session: session.id)
            try await relay.waitForPicture(of: session.id)
        }
    }

    @Test("makes way for a newer one of its role with a valid token, and its rejection is final")
    func isDisplaced() async throws {
        try await RunningRelay.run { relay in
            let first = try await LinkClient(greeting: relay, pid: 1)
            let standby = try await LinkClient(greeting: relay, pid: 2, role: .standby)
            let stranger = try await LinkClient(port: relay.ports.agentLink)
            var hello = relay.hello(pid: 3)
            hello.token = "wrong"
            try await stranger.send(.hello(hello))
            try await stranger.waitForEnd()
            #expect(try await relay.broadcast()["agent"]?["pid"] == 1)
            let second = try await LinkClient(greeting: relay, pid: 4)
            let reject = try await first.first { if case .reject(let reject) = $0 { reject } else { nil } }
            #expect(reject.code == .displaced)
            #expect(reject.code.isFinal, "it does not come back and displace in turn")
            try await first.waitForEnd()
            let status = try await eventually("the newer agent") {
                let status = try await relay.broadcast()
                if status["agent"]?["pid"] == 4 { return status }
                return nil
            }
            #expect(status["state"] == "live")
            #expect(status["standby"]?["agent"]?["pid"] == 2)
            try await second.close()
            try await standby.close()
        }
    }
}
