import Foundation
import Media
import TestSupport
import Testing

/// A live broadcast with a standby, both of the test pattern, and a viewer that has had pictures.
struct StandbyScene {
    static let size = PictureSize(width: 320, height: 240)
    static let token = "the link token of the tests"

    let desktop: Desktop
    let relay: RelayProcess
    /// The session as it was started.
    let session: RelayProcess.Object
    let viewer: ScrcpyViewer

    /// - Parameters:
    ///   - arguments: More arguments for the relay.
    ///   - fps: The session's.
    ///   - environment: Variables for relay and agents, in addition to the desktop's.
    static func with(
        arguments: [String] = [],
        fps: Int = 30,
        environment: (Desktop) throws -> [String: String] = { _ in [:] },
        _ body: (StandbyScene) async throws -> Void
    ) async throws {
        let desktop = try Desktop(.none)
        defer { desktop.end() }
        let relay = try await RelayProcess(
            in: desktop,
            arguments: arguments,
            linkToken: token,
            fallback: "test-pattern",
            environment: environment(desktop)
        )
        defer { relay.terminate() }
        try await relay.post("/screencapture/broadcast/start", ["source": ["kind": "test-pattern"]])
        let session = try await relay.startSession([
            "framing": "scrcpy", "width": size.width, "height": size.height, "fps": fps,
        ])
        let viewer = try SystemTests.viewer(of: session)
        let scene = StandbyScene(desktop: desktop, relay: relay, session: session, viewer: viewer)
        try await scene.waitForStandby()
        try await SystemTests.waitForPictures(20, at: viewer)
        try await body(scene)
    }

    var sessionPort: Int { session.integer("port") }

    func waitForStandby() async throws {
        _ = try await eventually("a warm standby") {
            try await standby().string("state") == "live" ? true : nil
        }
    }

    func standby() async throws -> RelayProcess.Object { try await Self.standby(of: relay) }

    static func standby(of relay: RelayProcess) async throws -> RelayProcess.Object {
        try await relay.get("/screencapture/broadcast").object("standby")
    }

    /// The process of the broadcast's agent.
    func agent() async throws -> Int32 { try await Self.agent(of: relay) }

    static func agent(of relay: RelayProcess) async throws -> Int32 {
        Int32(try await relay.get("/screencapture/broadcast").object("agent").integer("pid"))
    }

    /// Waits until `feed` feeds the session after `switches` switches.
    func waitForFeed(_ feed: String, switches: Int) async throws {
        _ = try await eventually("pictures from \(feed), \(switches) switches") {
            let session = try await relay.get("/screencapture/1")
            return session.string("feed") == feed && session.integer("switches") >= switches ? true : nil
        }
    }

    /// The session's switches by cause.
    func switchCauses() async throws -> RelayProcess.Object {
        try await relay.get("/screencapture/1").object("switchCauses")
    }

    func expectUnbroken() throws { try Self.expectUnbroken(viewer) }

    /// Expects that the viewer is still connected, and that everything it got decodes.
    static func expectUnbroken(_ viewer: ScrcpyViewer) throws {
        let current = viewer.current
        #expect(!current.isClosed)
        let decoded = try FFmpeg.decodeLuma(h264: current.pictures.flatMap(\.bytes), size: size)
        #expect(decoded.count == current.pictures.count)
        #expect(zip(current.pictures, current.pictures.dropFirst()).allSatisfy { $0.pts < $1.pts })
    }
}
