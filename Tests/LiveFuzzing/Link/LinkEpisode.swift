import Media
import Relay
import TestSupport
import Wire

/// Performs the steps of one plan on a relay.
final class LinkEpisode {
    private let relay: TestedRelay
    private let pictures: [Codec: RealPictures]
    /// Whether everything that is sent is valid.
    private let isSound: Bool
    private let ledger = UnitLedger()
    private var sessions: [Int: FuzzSession] = [:]
    private var links: [LinkName: FuzzAgent] = [:]
    private var watchers: [Int: Watcher] = [:]
    /// Viewers that left or were replaced by others.
    private var formerWatchers: [Watcher] = []
    private var formerLinks: [FuzzAgent] = []
    private(set) var figures = LinkFigures()
    private(set) var faults: [Fault] = []

    init(relay: TestedRelay, pictures: [Codec: RealPictures], isSound: Bool) {
        (self.relay, self.pictures, self.isSound) = (relay, pictures, isSound)
    }

    private var loop: Loop { relay.loop }

    // MARK: Steps

    func perform(_ step: LinkStep) throws {
        switch step {
        case .startSession(let place, let device, let body): try start(place, device, body)
        case .stopSession(let place):
            if let session = sessions.removeValue(forKey: place) {
                _ = try relay.call("POST", "/screencapture/\(session.id)/stop")
            }
        case .changeSession(let place, let body):
            if let session = sessions[place] { _ = try relay.call("PATCH", "/screencapture/\(session.id)", body) }
        case .connect(let name, let greeting): try connect(name, greeting)
        case .endLink(let name, let ending):
            if links[name]?.isLinked == true { figures.linksLost += 1 }
            links[name]?.end(ending)
        case .units(let name, let place, let recipes, let delivery): try send(recipes, of: place, delivery, by: name)
        case .strangeUnits(let name, let id): sendStrange(to: id, by: name)
        case .report(let name, let place, let report, let seed): try send(report, of: place, by: name, seed)
        case .answerSnapshots(let name, let seed): answerSnapshots(name, seed)
        case .mutated(let name, let seed): links[name]?.send(bytes: LinkBytes.mutated(seed: seed), packets: 1)
        case .torn(let name, let seed): links[name]?.send(bytes: LinkBytes.torn(seed: seed), packets: 1)
        case .hold(let name, let reads): links[name]?.read(reads)
        case .join(let place, let session, let viewing): try join(place, session, viewing)
        case .stall(let place): stall(place)
        case .resume(let place): watchers[place]?.read(true)
        case .leave(let place, let ending): watchers[place]?.leave(ending)
        case .say(let place, let seed): watchers[place]?.send(LinkBytes.said(seed: seed))
        case .call(let place, let seed): try call(place, seed)
        case .breathe(let milliseconds): loop.run(milliseconds: milliseconds)
        }
        loop.turn(milliseconds: 0)
    }

    private func start(_ place: Int, _ device: Int, _ body: String) throws {
        if let former = sessions.removeValue(forKey: place) {
            _ = try relay.call("POST", "/screencapture/\(former.id)/stop")
        }
        let body = "{\"device\": \"\(TestedRelay.devices[device])\", \(body)}"
        let answer = try relay.call("POST", "/screencapture/start", body)
        try expect(
            answer.status == 201 || answer.status == 200,
            "a session that does not start",
            "\(answer.status): \(body)"
        )
        sessions[place] = FuzzSession(answer.json)
    }

    private func connect(_ name: LinkName, _ greeting: Greeting) throws {
        let agent = FuzzAgent(
            device: TestedRelay.devices[name.device],
            role: name.role,
            ledger: ledger,
            pictures: pictures
        )
        do {
            try agent.connect(port: relay.agentPort, on: loop)
        } catch {
            return try relay.expectAlive()
        }
        if let former = links.updateValue(agent, forKey: name) { formerLinks.append(former) }
        var hello = Hello.fuzz(of: agent)
        switch greeting {
        case .streaming, .quiet: break
        case .odd: (hello.source, hello.pid, hello.release) = (String(repeating: "s", count: 60_000), .min, "\u{0}\n")
        case .wrongToken: hello.token = "another"
        case .twice: agent.greet(hello)
        case .none:
            agent.send(.wake(0))
            return
        }
        agent.greet(hello)
        if greeting == .streaming { agent.send(.status(SourceStatus(state: .streaming))) }
        let answered = loop.run(atMost: 20) { agent.isAnswered }
        try relay.expectAlive()
        try expect(answered, "an agent without an answer to HELLO")
    }

    private func send(_ recipes: [UnitRecipe], of place: Int, _ delivery: Delivery, by name: LinkName) throws {
        guard let session = sessions[place] else { return }
        if links[name]?.isLinked != true {
            guard delivery.revives else { return }
            try connect(name, .streaming)
        }
        guard let agent = links[name], agent.isLinked else { return }
        if delivery.answers {
            loop.run(atMost: name.role == .primary ? 0.2 : 0.02) {
                agent.requests[session.id] != nil || !agent.isLinked
            }
        }
        var oddities = delivery.oddities.map(Oddities.init)
        let packets = recipes.map { recipe in
            var packet = Packet.accessUnit(session.id, agent.unit(recipe, of: session.id, codec: session.codec))
                .encoded()
            oddities?.apply(to: &packet)
            return packet
        }
        let bytes = packets.flatMap(\.self)
        if delivery.isTogether {
            agent.send(bytes: bytes, packets: packets.count)
        } else {
            // Also within packets.
            for piece in LinkBytes.pieces(of: bytes) {
                agent.send(bytes: piece)
                loop.turn(milliseconds: 0)
            }
            agent.send(bytes: [], packets: packets.count)
        }
        loop.run(atMost: 5) { agent.isFlushed }
    }

    private func sendStrange(to id: SessionID, by name: LinkName) {
        // A known session is not unknown.
        guard let agent = links[name], agent.isLinked, agent.sessions[id] == nil else { return }
        let unit = agent.unit(.key(group: 0), of: 0, codec: .h264)
        agent.send(.accessUnit(id, unit))
        // Another device's session, if there is one.
        if let other = sessions.values.first(where: { agent.sessions[$0.id] == nil }) {
            agent.send(.accessUnit(other.id, unit))
        }
    }

    private func send(_ report: Report, of place: Int, by name: LinkName, _ seed: UInt64) throws {
        guard let agent = links[name], agent.isLinked else { return }
        let session = sessions[place]
        var reports = Reports(seed: seed, session: session?.id ?? 0)
        var keyframe: Int64?
        if report == .rest, let session {
            ledger.rest(session.id)
            // A session can rest only after a keyframe.
            let unit = agent.unit(.key(group: 0), of: session.id, codec: session.codec)
            keyframe = unit.pts
            agent.send(.accessUnit(session.id, unit))
        }
        let (bytes, count) = reports.bytes(report, keyframe: keyframe)
        agent.send(bytes: bytes, packets: count)
    }

    private func answerSnapshots(_ name: LinkName, _ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        guard let agent = links[name], agent.isLinked else { return }
        for (session, request) in agent.takeSnapshots() {
            agent.send(.snapshot(session, FuzzSnapshot.answer(to: request, by: &random)))
        }
    }

    private func join(_ place: Int, _ session: Int, _ viewing: Viewing) throws {
        guard let session = sessions[session] else { return }
        if let former = watchers.removeValue(forKey: place) {
            former.leave()
            formerWatchers.append(former)
        }
        let watcher = Watcher(viewing, of: session, ledger: ledger, records: isSound)
        do {
            try watcher.join(httpPort: relay.httpPort, on: loop, isSmall: true)
        } catch {
            return try relay.expectAlive()
        }
        watchers[place] = watcher
        figures.joins += 1
        // A stream's head comes when its viewer is admitted; other answers may take longer.
        loop.run(atMost: viewing.format == .snapshot || viewing.format == .wait ? 0.01 : 0.2) {
            watcher.isAnswered || !watcher.isOpen
        }
        loop.run(milliseconds: 2)
    }

    private func stall(_ place: Int) {
        guard let watcher = watchers[place], watcher.isOpen else { return }
        watcher.read(false)
        figures.stalls += 1
    }

    private func call(_ place: Int, _ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let id = sessions[place]?.id ?? 0
        let device = random.pick(TestedRelay.devices)
        let (method, path, body) = random.pick(
            [
                ("GET", "/screencapture", nil), ("GET", "/screencapture/\(id)", nil),
                ("GET", "/screencapture/broadcasts", nil),
                ("GET", "/screencapture/broadcast?device=\(device)", nil), ("GET", "/metrics", nil),
                ("GET", "/readyz", nil),
                ("POST", "/screencapture/\(id)/keyframe", nil),
                ("POST", "/screencapture/broadcast/start", "{\"device\": \"\(device)\", \"timeout\": 0.1}"),
                ("POST", "/screencapture/broadcast/stop", "{\"device\": \"\(device)\"}"),
            ] as [(String, String, String?)]
        )
        _ = try relay.call(method, path, body)
    }

    // MARK: The end

    /// Records a fault, each kind once.
    func note(_ fault: Fault) { faults.append(fault) }

    /// Waits until nothing more arrives, and records the findings of viewers and agents.
    func settle() {
        loop.run(milliseconds: 20)
        for watcher in Array(watchers.values) + formerWatchers {
            if let fault = watcher.fault { note(fault) }
            figures.pictures += watcher.order.pictures
            figures.gapsTold += watcher.gapsTold
        }
        for agent in Array(links.values) + formerLinks {
            if let fault = agent.fault { note(fault) }
            if agent.rejected == .protocolError { figures.linksLost += 1 }
            figures.packets += agent.packets
            figures.units += agent.units
        }
    }

    /// Decodes what viewers of sound sessions got, at most `most` of them.
    func decode(most: Int) {
        let formats: [Viewing.Format] = [.bare, .transportStream, .movie]
        let whole = (Array(watchers.values) + formerWatchers).filter {
            formats.contains($0.viewing.format) && $0.order.pictures > 0
        }
        for watcher in whole.prefix(most) where watcher.fault == nil {
            do throws(Fault) {
                try Decoding.check(watcher, warnings: false)
                figures.decodings += 1
            } catch {
                note(error)
            }
        }
    }

    /// Throws unless each session continues once it has a sound agent and a viewer.
    func recover() throws {
        for link in links.values { link.end(.close) }
        let recovery = LinkRecovery(relay: relay, pictures: pictures, ledger: ledger)
        for (device, name) in TestedRelay.devices.enumerated() {
            let sessions = self.sessions.filter { $0.key % TestedRelay.devices.count == device }.values
            figures.recoveries += try recovery.recover(Array(sessions), of: name)
        }
    }

    /// Ends everything that is left of the episode.
    func close() throws {
        for watcher in watchers.values { watcher.leave() }
        for link in links.values { link.end(.close) }
        for session in sessions.values { _ = try relay.call("POST", "/screencapture/\(session.id)/stop") }
    }
}
