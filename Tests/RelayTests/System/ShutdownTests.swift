import Foundation
import HeliographAPI
import Media
import NIOCore
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("A graceful shutdown")
struct ShutdownTests {
    @Test("ends viewers' streams, stops the agent and leaves no process")
    func endsEverything() async throws {
        let runs = try await RunningRelay.run(agentScript: "exec sleep 1000") { relay in
            let session = try await relay.startSession()
            async let start = relay.post("/screencapture/broadcast/start")
            try await relay.waitForState("starting")
            let link = try await LinkClient(greeting: relay)
            #expect(try await start.status == 200)
            let viewer = try await ByteClient(port: session.port)
            async let stream = relay.get("/screencapture/\(session.id)/stream.h264")
            try await relay.waitForViewers(2, of: session.id)
            let key = SampleStream.accessUnit(0, key: true)
            try await link.send([key], session: session.id)
            #expect(try await viewer.read(key.bytes.count) == key.bytes)
            await relay.shutDown()
            #expect(try await viewer.next() == nil)
            #expect(try await stream.body == key.bytes)
            _ = try await link.first { if case .stop = $0 { true } else { nil } }
            try await link.waitForEnd()
        }
        #expect(runs == 1)
    }

    @Test("is what each of its signals begins", arguments: [SIGTERM, SIGINT, SIGHUP])
    func signals(signal: Int32) async throws {
        let script = try HelperScript("exec sleep 1000")
        let file = script.path + ".ports"
        let relay = Process()
        relay.executableURL = Programs.product("heliograph-relay")
        relay.arguments = [
            "--http", "127.0.0.1:0", "--agent-link", "127.0.0.1:0", "--session-port-base", "0",
            "--agent", script.path, "--ports-file", file, "--log-level", "critical",
        ]
        try Programs.start(relay)
        defer { if relay.isRunning { kill(relay.processIdentifier, SIGKILL) } }
        let port = try await eventually("the relay's port") { () -> Int? in
            guard let data = FileManager.default.contents(atPath: file),
                case .integer(let port) = try JSONValue(parsing: data)["http"]
            else { return nil }
            return port
        }
        let browser = try await ByteClient(port: port)
        let request = "POST /screencapture/broadcast/start HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
        try await browser.send(Array(request.utf8))
        _ = try await eventually("the agent") { script.runs.isEmpty ? nil : true }
        kill(relay.processIdentifier, signal)
        _ = try await eventually("the relay's end") { relay.isRunning ? nil : true }
        #expect(relay.terminationReason == .exit && relay.terminationStatus == 0)
        for pid in script.runs { try await HelperScript.awaitEnd(of: pid) }
    }

    @Test("does not wait for viewers that do not read")
    func doesNotWaitForStalledViewers() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let stalled = try await ByteClient(port: session.port, autoRead: false)
            let browser = try await ByteClient(port: relay.ports.http, autoRead: false)
            let request = "GET /screencapture/\(session.id)/stream.h264 HTTP/1.1\r\nHost: localhost\r\n\r\n"
            try await browser.send(Array(request.utf8))
            try await relay.waitForViewers(2, of: session.id)
            let link = try await LinkClient(greeting: relay)
            let units = (0..<500).map { SampleStream.accessUnit($0, key: $0 % 20 == 0, size: 64 << 10) }
            try await link.send(units, session: session.id)
            _ = try await eventually("both viewers to stall") { () -> Bool? in
                guard case .integer(let resyncs) = try await relay.session(session.id)["counters"]?["relay"]?["resyncs"]
                else { return nil }
                return resyncs >= 2 ? true : nil
            }
            let start = ContinuousClock.now
            await relay.shutDown()
            try await link.waitForEnd()
            #expect(ContinuousClock.now - start < .seconds(5))
            withExtendedLifetime((stalled, browser)) {}
        }
    }

    @Test("during a start ends the start and its agent")
    func endsAStart() async throws {
        try await RunningRelay.run(agentScript: "exec sleep 1000") { relay in
            async let start = relay.post("/screencapture/broadcast/start")
            try await relay.waitForState("starting")
            await relay.shutDown()
            #expect(try await start.code == "broadcast_stopped")
        }
    }
}

@Suite("A relay does not start")
struct StartErrorTests {
    @Test("when its HTTP port is taken, and says which")
    func httpPortTaken() async throws {
        try await RunningRelay.run { first in
            let error = try await #require(throws: RelayStartError.self) {
                try await RunningRelay.run {
                    $0.http.port = first.ports.http
                } _: { _ in
                }
            }
            #expect("\(error)".contains("port \(first.ports.http) for the HTTP API is in use"))
        }
    }

    @Test("when its agent port is taken, and says which")
    func agentPortTaken() async throws {
        try await RunningRelay.run { first in
            let error = try await #require(throws: RelayStartError.self) {
                try await RunningRelay.run {
                    $0.agentLink.port = first.ports.agentLink
                } _: { _ in
                }
            }
            #expect("\(error)".contains("port \(first.ports.agentLink) for the agent link is in use"))
        }
    }

    @Test(
        "on an address that others can reach, without encryption and keys",
        arguments: ["0.0.0.0", "::", "192.168.1.1", "example.com"]
    )
    func publicAddress(host: String) {
        var configuration = RelayConfiguration()
        configuration.http.host = host
        configuration.keysFile = "/k"
        for (tls, keys) in [(TLSSettings.none, nil), (.none, 1), (.selfSigned, nil), (.selfSigned, 0)]
            as [(TLSSettings, Int?)]
        {
            configuration.tls = tls
            let error = #expect(throws: RelayStartError.self) { try configuration.validate(keyCount: keys) }
            let text = error.map { "\($0)" } ?? ""
            #expect(text.contains("--tls self-signed") == (tls == .none), "\(text)")
            #expect(text.contains("heliograph keys make NAME --role operator --keys-file /k") == (keys != 1), "\(text)")
        }
        #expect(throws: Never.self) { try configuration.validate(keyCount: 1) }
        configuration.agentLink.host = host
        #expect(throws: RelayStartError.self) { try configuration.validate(keyCount: 1) }
    }
}
