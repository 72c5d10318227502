import Foundation
import HeliographAPI
import Logging
import Media
import Program
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("A state file")
struct StateFileTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "heliograph-\(UUID().uuidString)"
    )
    private var path: String { folder.appendingPathComponent("deep/relay.json").path }

    private func state(session: UInt32 = 7) -> RelayState {
        var request = SessionRequest()
        request.label = "a \"label\""
        request.codec = .h265
        request.framing = .scrcpy
        request.size.maxPixels = 4000
        request.ttl = 60
        var source = SourceRequest(kind: .mutter)
        source.cursor = .hidden
        source.output = "DP-1"
        return RelayState(
            linkToken: "secret",
            lastSession: session,
            sessions: [
                .init(
                    id: session,
                    device: "tv",
                    request: request,
                    port: 9200,
                    soundPort: 9201,
                    epoch: 123,
                    created: Date(timeIntervalSince1970: 1)
                )
            ],
            broadcasts: [
                .init(device: "tv", source: source, ttl: 60, agent: ProcessIdentity(pid: getpid()), standby: nil)
            ]
        )
    }

    @Test("gives back what was put in, is its owner's alone, and is of this boot")
    func roundTrip() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = StateFile(path: path)
        #expect(try file.read() == nil)
        for id: UInt32 in [7, 8] {
            try file.write(state(session: id))
            let read = try #require(try file.read())
            #expect(read == state(session: id))
            #expect(read.isOfThisBoot)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/deep") == ["relay.json"])
    }

    @Test("that is damaged or of another version says so")
    func damaged() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = StateFile(path: path)
        try file.write(state())
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        for count in [0, 1, whole.count / 2, whole.count - 3] {
            try whole.prefix(count).write(to: URL(fileURLWithPath: path))
            let failure = #expect(throws: StateFile.Failure.self) { try file.read() }
            guard case .damaged = failure else {
                Issue.record("\(String(describing: failure))")
                continue
            }
        }
        try Data(#"{"version":99}"#.utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: StateFile.Failure.otherVersion(path: path, version: 99)) { try file.read() }
    }

    @Test("may hold values that no session can go on with")
    func unsound() {
        let now: UInt64 = 1_000
        let kept = state().sessions[0]
        #expect(kept.isSound(now: now))
        let faults: [(inout RelayState.Session) -> Void] = [
            { $0.request.fps = 0 }, { $0.request.keyframeInterval = 1e300 }, { $0.request.staticKeyframeInterval = -1 },
            { $0.request.bitrate = .max }, { $0.request.size.width = 17 }, { $0.request.size.height = .min },
            { $0.request.size.maxPixels = 0 }, { $0.request.ttl = .max }, { $0.request.port = -1 },
            { $0.request.encoder = "" }, { $0.port = 0 }, { $0.port = 70_000 }, { $0.soundPort = 0 },
            { $0.epoch = .max },
            { $0.created = Date(timeIntervalSince1970: 1e300) },
        ]
        for (number, fault) in faults.enumerated() {
            var session = kept
            fault(&session)
            #expect(!session.isSound(now: now), "fault \(number)")
        }
    }

    @Test("keeps the ports of sound, and gives a session without one another port than all others have")
    func soundPorts() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var state = state()
        state.linkToken = String(repeating: "0", count: 64)
        (state.lastSession, state.broadcasts) = (2, [])
        var kept = state.sessions[0]
        (kept.device, kept.request.ttl) = ("default", nil)
        (kept.id, kept.port, kept.soundPort) = (1, 21_930, nil)
        let first = kept
        (kept.id, kept.port, kept.soundPort) = (2, 21_931, 21_940)
        state.sessions = [first, kept]
        try StateFile(path: path).write(state)
        let path = path
        try await RunningRelay.run {
            $0.stateFile = path
            $0.sessionPortBase = 21_930
            $0.devices[0].sound = .desktop
        } _: { relay in
            let (first, second) = (
                try await relay.get("/screencapture/1").json, try await relay.get("/screencapture/2").json
            )
            #expect(first["port"] == 21_930 && second["port"] == 21_931)
            #expect(second["audioPort"] == 21_940)
            guard case .integer(let port)? = first["audioPort"] else { throw NeverCame(description: "\(first)") }
            #expect(![21_930, 21_931, 21_940].contains(port))
        }
    }

    @Test("with the largest id, an id of before the first one and an id twice leaves the relay running and ids free")
    func anyIDs() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var state = state()
        state.linkToken = String(repeating: "0", count: 64)
        state.lastSession = .max
        state.broadcasts = []
        var kept = state.sessions[0]
        (kept.device, kept.port) = ("default", 21_900)
        let ids: [UInt32] = [3, 3, 0, .max]
        state.sessions = ids.map { id in
            kept.id = id
            kept.port += 1
            return kept
        }
        try StateFile(path: path).write(state)
        let path = path
        try await RunningRelay.run {
            $0.stateFile = path
        } _: { relay in
            #expect(try await relay.get("/screencapture/3").json["port"] == 21_901)
            for id in [0, UInt32.max] { #expect(try await relay.get("/screencapture/\(id)").status == 404) }
            let (first, _) = try await relay.startSession()
            let (second, _) = try await relay.startSession()
            #expect(first > 3 && second == first + 1)
        }
    }

    @Test("that could not be written is written as soon as it can be, the newest state only")
    func retried() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        // A file in place of the state's folder.
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data().write(to: folder.appendingPathComponent("deep"))
        var logger = Logger(label: "keeper-under-test")
        logger.logLevel = .critical
        let file = StateFile(path: path)
        let keeper = StateKeeper(file: file, retryInterval: .milliseconds(10), logger: logger)
        for id: UInt32 in 1...3 { await keeper.keep(state(session: id), number: Int(id)) }
        await keeper.keep(state(session: 2), number: 2)
        try FileManager.default.removeItem(at: folder.appendingPathComponent("deep"))
        let kept = try await eventually("the state in its file") { try file.read() }
        #expect(kept == state(session: 3))
    }

    @Test("that cannot be written says so, and leaves the old one")
    func unwritable() throws {
        let file = StateFile(path: "/dev/null/relay.json")
        let failure = #expect(throws: StateFile.Failure.self) { try file.write(state()) }
        guard case .unwritable = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }
}
