import Foundation
import Media
import TestSupport

/// A relay with a broadcast and a standby, each of a screen that moves on orders, and random events of their sessions.
///
/// A seed decides what happens, but not the timing.
final class RandomScene {
    typealias Object = RelayProcess.Object

    private static let sizes = [(320, 240), (400, 224), (256, 256), (322, 182)].map {
        PictureSize(width: $0.0, height: $0.1)
    }
    /// Viewers at a time.
    private static let mostViewers = 12
    private static let mostSessions = 5

    let desktop: Desktop
    let relay: RelayProcess
    /// The screens of the broadcast and of its standby.
    let (screen, other): (OrderedScreen, OrderedScreen)
    var generator: SeededGenerator
    /// Sessions that run.
    var sessions: [WatchedSession] = []
    /// All sessions so far.
    private(set) var viewers: [RecordingViewer] = []
    /// A journal for people.
    private(set) var journal: [String] = []
    /// Pictures that were dropped for slow viewers, of sessions that have ended.
    var dropped = 0
    private(set) var kills = 0
    private let begin = ContinuousClock.now
    /// Snapshots in flight.
    private var snapshots: [Task<Void, Never>] = []

    init(seed: UInt64, in desktop: Desktop) async throws {
        self.desktop = desktop
        generator = SeededGenerator(seed: seed)
        screen = try OrderedScreen("screen", sizes: Self.sizes, in: desktop)
        other = try OrderedScreen("other", sizes: Self.sizes.reversed(), in: desktop)
        let file = desktop.directory.appendingPathComponent("run/relay.yaml")
        try Data("fallback: {kind: node, node: other}\n".utf8).write(to: file)
        relay = try await RelayProcess(in: desktop, arguments: ["--config", file.path], fallback: nil)
    }

    // MARK: - Its life

    /// Starts the broadcast, two sessions of each codec, one of which has a witness, and a viewer of each kind.
    func start() async throws {
        try await relay.post(
            "/screencapture/broadcast/start",
            ["timeout": 60, "source": ["kind": "node", "node": "screen"] as Object]
        )
        for codec in Codec.allCases {
            for hasWitness in [true, false] { try await startSession(codec, hasWitness: hasWitness) }
        }
        try await waitUntilWhole()
        for way in RecordingViewer.Way.allCases {
            if let session = sessions.randomElement(using: &generator) { try join(session, way) }
        }
    }

    /// Runs random events for a while, and kills the broadcast's agent in the middle.
    func live(for duration: Duration) async throws {
        let (middle, end) = (ContinuousClock.now + duration / 2, ContinuousClock.now + duration)
        let kills = kills
        while ContinuousClock.now < end {
            if self.kills == kills, ContinuousClock.now > middle {
                try await waitUntilWhole()
                try await killAgent(of: "broadcast")
            }
            try await step()
            try await Task.sleep(for: .milliseconds(pause()))
        }
    }

    /// Makes sure that each witness gets repeats and keyframes made by the relay, and each viewer pictures of a moving
    /// screen.
    func settle() async throws {
        try await waitUntilWhole()
        for session in sessions {
            try await change(session, ["bitrate": 4_000_000, "fps": 20, "width": 160, "height": 120])
        }
        let witnesses = viewers.filter { $0.session.hasWitness && $0.way == .webSocket && $0.isWatching }
        for session in sessions where session.hasWitness {
            let witness = witnesses.first { $0.session.id == session.id }
            let known = witness?.keyframesAgain ?? 0
            _ = try await eventually("a keyframe again, of session \(session.id)") {
                witness?.keyframesAgain ?? 0 > known + 1 ? true : nil
            }
        }
        note("all have rested")
        let before = viewers.filter(\.isWatching).map { ($0, $0.byteCount) }
        screen.move(40, microseconds: 25_000)
        for (viewer, count) in before {
            _ = try await eventually("moving pictures for \(viewer.name)") {
                viewer.byteCount > count + 500 ? true : nil
            }
        }
        for session in sessions {
            let status = try await relay.get("/screencapture/\(session.id)")
            guard status.string("error") == nil else {
                throw NeverCame(description: "session \(session.id) without an error: \(status.string("error") ?? "")")
            }
            note(dropsOf: status)
        }
        for snapshot in snapshots { await snapshot.value }
    }

    /// Ends the relay, and with it all viewers' streams. Returns its exit status.
    func end() async throws -> Int32 {
        let status = relay.terminate()
        for viewer in viewers {
            _ = try await eventually("the end of \(viewer.name)") { viewer.isClosed ? true : nil }
        }
        return status
    }

    /// Waits until the broadcast feeds all sessions that are awake, and a standby is ready.
    func waitUntilWhole() async throws {
        _ = try await eventually("a live broadcast and a warm standby", limit: .seconds(60)) {
            let status = try await relay.get("/screencapture/broadcast")
            let sessions = status["sessions"] as? [Object] ?? []
            let isFed = sessions.allSatisfy { $0.string("feed") == "primary" || $0["asleep"] as? Bool == true }
            return isFed && isLive(status) && isLive(status.object("standby")) ? true : nil
        }
    }

    private func isLive(_ status: Object) -> Bool {
        status.string("state") == "live" && status.object("source").string("state") == "streaming"
    }

    // MARK: - What happens

    private func step() async throws {
        switch Int.random(in: 0..<40, using: &generator) {
        case 0..<10: move(screen, "the screen")
        case 10..<13: move(other, "the standby's screen")
        case 13..<21: try await join()
        case 21..<24: leave()
        case 24..<31:
            if let session = sessions.randomElement(using: &generator) {
                try await change(session, randomChange(of: session.codec))
            }
        case 31..<35: try await askForKeyframe()
        case 35:
            note("the screen changes its size")
            screen.changeSize()
        case 36: takeSnapshot()
        case 37: try await startOrStop()
        case 38: try await startOrStop()
        default: try await killOne()
        }
    }

    /// Returns the time until the next event, in ms: none, a picture or two, or long enough to come to rest.
    private func pause() -> Int {
        switch Int.random(in: 0..<20, using: &generator) {
        case 0..<10: Int.random(in: 0...30, using: &generator)
        case 10..<18: Int.random(in: 30...300, using: &generator)
        default: Int.random(in: 600...2000, using: &generator)
        }
    }

    private func move(_ screen: OrderedScreen, _ name: String) {
        let microseconds = [2000, 8000, 16_667, 33_333, 40_000, 100_000].randomElement(using: &generator) ?? 0
        let pictures = Int.random(in: 1...max(2, 1_500_000 / microseconds / 4), using: &generator)
        note("\(name) moves \(pictures) times, \(microseconds) µs apart")
        screen.move(pictures, microseconds: microseconds)
    }

    private func join() async throws {
        guard let session = sessions.randomElement(using: &generator) else { return }
        let way = RecordingViewer.Way.allCases.randomElement(using: &generator) ?? .port
        guard viewers.count(where: \.isWatching) < Self.mostViewers else { return leave() }
        try join(session, way)
    }

    @discardableResult
    private func join(_ session: WatchedSession, _ way: RecordingViewer.Way) throws -> RecordingViewer {
        let join = Bool.random(using: &generator) ? "cache" : "live"
        let viewer = try RecordingViewer(
            way,
            of: session,
            number: viewers.count + 1,
            join: join,
            httpPort: relay.httpPort
        )
        note("\(viewer.name) joins, \(join)")
        viewers.append(viewer)
        return viewer
    }

    private func leave() {
        let witnesses = viewers.filter { $0.session.hasWitness && $0.way == .webSocket }
        let first = Dictionary(grouping: witnesses) { $0.session.id }.compactMap { $0.value.first?.name }
        let others = viewers.filter { $0.isWatching && !first.contains($0.name) }
        guard let viewer = others.randomElement(using: &generator) else { return }
        note("\(viewer.name) leaves")
        viewer.hangUp()
    }

    private func askForKeyframe() async throws {
        let viewers = viewers.filter { $0.isWatching && $0.way.isWebSocket }
        if Bool.random(using: &generator), let viewer = viewers.randomElement(using: &generator) {
            note("\(viewer.name) asks for a keyframe")
            return viewer.askForKeyframe()
        }
        guard let session = sessions.randomElement(using: &generator) else { return }
        note("session \(session.id) is asked for a keyframe")
        do {
            try await relay.post("/screencapture/\(session.id)/keyframe")
        } catch let refusal as RelayProcess.Refusal where refusal.code == "no_source" {
            // Between two agents, or asleep.
        }
    }

    /// A snapshot wakes a session that sleeps.
    private func takeSnapshot() {
        guard let session = sessions.randomElement(using: &generator) else { return }
        note("a snapshot of session \(session.id)")
        snapshots.append(
            Task { [relay] in _ = try? await relay.text("/screencapture/\(session.id)/snapshot.jpg?fresh=true") }
        )
    }

    private func startOrStop() async throws {
        if sessions.count < Self.mostSessions, Bool.random(using: &generator) {
            let codec = Codec.allCases.randomElement(using: &generator) ?? .h264
            return try await startSession(codec, hasWitness: Bool.random(using: &generator))
        }
        guard sessions.count > 2, let index = sessions.indices.randomElement(using: &generator) else { return }
        let session = sessions.remove(at: index)
        note("session \(session.id) stops")
        note(dropsOf: try await relay.get("/screencapture/\(session.id)"))
        try await relay.post("/screencapture/\(session.id)/stop")
    }

    private func note(dropsOf status: Object) {
        dropped += status.object("counters").object("relay").integer("dropped")
    }

    private func startSession(_ codec: Codec, hasWitness: Bool) async throws {
        var arguments = randomSession(codec)
        // A witness keeps a session awake.
        if hasWitness { arguments["onDemand"] = false }
        let status = try await relay.startSession(arguments)
        let session = WatchedSession(
            id: status.integer("id"),
            port: status.integer("port"),
            codec: codec,
            isPacketized: status.string("framing") == "scrcpy",
            hasWitness: hasWitness
        )
        note("session \(session.id) starts\(hasWitness ? " with a witness" : ""): \(arguments)")
        if hasWitness {
            let witness = try join(session, .webSocket)
            // A viewer that joins before it may begin with an earlier picture.
            _ = try await eventually("the first picture of \(witness.name)") { witness.byteCount > 0 ? true : nil }
        }
        sessions.append(session)
    }

    private func change(_ session: WatchedSession, _ change: Object) async throws {
        note("session \(session.id) changes: \(change)")
        try await relay.patch("/screencapture/\(session.id)", change)
    }

    /// Kills one of the agents if both are healthy, one at a time, so that the other can always take over.
    private func killOne() async throws {
        let status = try await relay.get("/screencapture/broadcast")
        guard isLive(status), isLive(status.object("standby")) else { return }
        try await killAgent(of: Bool.random(using: &generator) ? "broadcast" : "standby")
    }

    private func killAgent(of role: String) async throws {
        let status = try await relay.get("/screencapture/broadcast")
        let owner = role == "standby" ? status.object("standby") : status
        let pid = Int32(owner.object("agent").integer("pid"))
        guard pid > 0 else { return }
        note("the agent of the \(role) is killed")
        kill(pid, SIGKILL)
        if role == "broadcast" { kills += 1 }
    }

    private func note(_ what: String) { journal.append("\(ContinuousClock.now - begin): \(what)") }
}
