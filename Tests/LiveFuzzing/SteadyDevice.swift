import Foundation
import HeliographAPI
import Media
import Relay
import TestSupport
import Wire

/// A device with a correct agent at a steady pace and viewers of every format. Each viewer must get every picture,
/// whatever others do.
final class SteadyDevice {
    /// The time between two pictures, in ns.
    private static let interval: Int64 = 50_000_000
    private static let heartbeatInterval: Int64 = 1_000_000_000
    /// How long the last pictures may be under way, in seconds.
    private static let patience = 20.0

    private let relay: TestedRelay
    private let ledger: UnitLedger
    private let agent: FuzzAgent
    private let sessions: [FuzzSession]
    private var watchers: [Watcher] = []
    private var nextPicture: Int64 = 0
    private var nextHeartbeat: Int64 = 0
    private var framesSent: UInt64 = 0
    private var decodings = 0
    /// The last picture of each session.
    private var newest: [SessionID: UInt64] = [:]

    /// Starts sessions, viewers and pictures.
    init(relay: TestedRelay, pictures: [Codec: RealPictures]) throws {
        self.relay = relay
        let ledger = UnitLedger()
        self.ledger = ledger
        agent = FuzzAgent(device: TestedRelay.steadyDevice, role: .primary, ledger: ledger, pictures: pictures)
        sessions = try ["\"codec\": \"h264\", \"framing\": \"scrcpy\"", "\"codec\": \"h265\""].map { fields in
            let body = "{\"device\": \"\(TestedRelay.steadyDevice)\", \"repeat\": false, \"fps\": 20, \(fields)}"
            let answer = try relay.call("POST", "/screencapture/start", body)
            guard let session = FuzzSession(answer.json) else {
                throw Fault("a session that does not start", "\(answer)")
            }
            return session
        }
        try agent.connect(port: relay.agentPort, on: relay.loop)
        agent.greet(.fuzz(of: agent))
        agent.send(.status(SourceStatus(state: .streaming)))
        let loop = relay.loop
        guard
            loop.run(
                atMost: Self.patience,
                until: { [agent, sessions] in sessions.allSatisfy { agent.requests[$0.id] != nil } }
            )
        else { throw Fault("an agent that is asked for no pictures") }
        try watch()
        loop.everyTurn = { [weak self] in self?.tick() }
    }

    private func watch() throws {
        for session in sessions {
            for format in Viewing.streams {
                let watcher = Watcher(Viewing(format: format), of: session, ledger: ledger, isStrict: true)
                try watcher.join(httpPort: relay.httpPort, on: relay.loop)
                watchers.append(watcher)
            }
        }
        let answered = relay.loop.run(atMost: Self.patience) { watchers.allSatisfy(\.isAnswered) }
        try expect(answered, "a viewer without an answer")
        // Those on the sessions' ports have no answer to wait for.
        for session in sessions {
            let count = Viewing.streams.count
            var viewers = JSONValue.null
            for _ in 0..<1000 where viewers != .integer(count) {
                viewers = try relay.call("GET", "/screencapture/\(session.id)").json["viewers"] ?? .null
            }
            try expect(viewers == .integer(count), "a viewer that is not let in", "\(viewers.text) of \(count)")
        }
    }

    /// The number of pictures sent so far.
    var pictures: Int { agent.units }

    /// Sends the pictures that are due.
    private func tick() {
        let now = monotonicNow()
        if now >= nextPicture {
            nextPicture = max(nextPicture + Self.interval, now - Self.interval)
            framesSent += 1
            for session in sessions {
                agent.send(.accessUnit(session.id, agent.unit(.next, of: session.id, codec: session.codec)))
                newest[session.id] = ledger.newest
            }
        }
        if now >= nextHeartbeat {
            nextHeartbeat = now + Self.heartbeatInterval
            agent.send(
                .heartbeat(
                    Heartbeat(
                        clock: UInt64(now),
                        framesReceived: framesSent,
                        buffersSkipped: 0,
                        framesCopied: 0,
                        linkQueuedBytes: 0,
                        sessions: []
                    )
                )
            )
        }
    }

    /// Throws if a viewer did not get every picture as it was sent, or if the relay reports a loss.
    func verify() throws {
        if let fault = agent.fault { throw fault }
        try expect(
            agent.isLinked,
            "the steady device's agent has lost its link",
            "\(String(describing: agent.rejected))"
        )
        let expected = newest
        relay.loop.run(atMost: Self.patience) { [watchers] in
            watchers.allSatisfy { $0.fault != nil || !$0.isOpen || $0.order.newest >= expected[$0.session.id] ?? 0 }
        }
        for watcher in watchers {
            let name = "\(watcher.viewing.format) of the steady device"
            if let fault = watcher.fault { throw Fault("\(fault.kind), on the steady device", fault.detail) }
            try expect(watcher.isOpen, "a viewer of the steady device whose connection was closed", name)
            let (last, sent) = (watcher.order.newest, expected[watcher.session.id] ?? 0)
            try expect(
                last >= sent,
                "a viewer of the steady device that waits for pictures",
                "\(name): \(last) of \(sent)"
            )
            try expect(watcher.gapsTold == 0, "a viewer of the steady device that hears of a gap", name)
        }
        for session in sessions {
            let counters = try relay.call("GET", "/screencapture/\(session.id)").json["counters"]?["relay"]
            for name in ["dropped", "resyncs", "discarded"] {
                try expect(counters?[name] == 0, "a steady session with \(name)", counters?.text ?? "")
            }
            ledger.forget(upTo: max(1000, expected[session.id] ?? 0) - 1000, of: session.id)
        }
        let link = try relay.call("GET", "/screencapture/broadcast?device=\(TestedRelay.steadyDevice)").json["link"]
        try expect(link?["reconnects"] == 0, "the steady device's link was lost", link?.text ?? "")
    }

    /// Records a viewer of one format for a moment, and lets ffmpeg decode the recording.
    func decode() throws {
        let formats: [Viewing.Format] = [.bare, .transportStream, .movie]
        let session = sessions[decodings / formats.count % sessions.count]
        let viewing = Viewing(format: formats[decodings % formats.count], join: decodings % 2 == 0 ? "cache" : "live")
        decodings += 1
        let watcher = Watcher(viewing, of: session, ledger: ledger, isStrict: true, records: true)
        try watcher.join(httpPort: relay.httpPort, on: relay.loop)
        relay.loop.run(atMost: Self.patience) { watcher.order.pictures >= 15 || watcher.fault != nil }
        watcher.leave()
        if let fault = watcher.fault { throw fault }
        try Decoding.check(watcher, warnings: true)
    }
}

extension Hello {
    /// The figures of one of the fuzzer's agents.
    static func fuzz(of agent: FuzzAgent) -> Hello {
        Hello(
            token: TestedRelay.linkToken,
            device: agent.device,
            source: "test-pattern",
            pid: 1,
            release: "fuzz",
            role: agent.role
        )
    }
}
