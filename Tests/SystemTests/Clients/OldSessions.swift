import Foundation
import Media
import TestSupport
import Testing

extension Trait where Self == OldSessions {
    static var oldSessions: Self { Self() }
}

/// Gives a suite a relay with a session of each codec that has run for ten seconds by its own clock; in Scripts/verify,
/// for a minute.
///
/// The relay is started once for the whole suite.
struct OldSessions: SuiteTrait, TestScoping {
    struct None: Error {}

    /// Whether all the clients that watch are on this machine.
    static let haveClients = VLCPlayer.isInstalled && OpenCVPlayer.isInstalled && Chromium.isInstalled

    /// In µs.
    private static let age = Effort.choose(10_000_000, whole: 60_000_000)
    @TaskLocal private static var current: WatchedRelay?

    /// The relay of the suite that runs.
    static var relay: WatchedRelay {
        get throws {
            guard let current else { throw None() }
            return current
        }
    }

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        let relay = try await RelayProcess(arguments: [
            "--session-port-base", "0", "--state-file", "none", "--fallback", "none", "--log-level", "warning",
        ])
        defer { relay.terminate() }
        let source: RelayProcess.Object = ["kind": "test-pattern", "width": 640, "height": 360, "fps": LiveStream.fps]
        try await relay.post("/screencapture/broadcast/start", ["timeout": 60, "source": source])
        var ports: [Int] = []
        for codec in Codec.allCases {
            let session = try await relay.startSession(["codec": codec.rawValue, "fps": LiveStream.fps])
            ports.append(session.integer("port"))
        }
        for id in 1...ports.count {
            // The relay answers when the session's clock is there, or after a while that is shorter than a request may
            // take.
            _ = try await eventually("a session that is old enough", limit: .seconds(180)) {
                let query = "until=changed&after=\(Self.age)&timeout=20"
                return try? await relay.get("/screencapture/\(id)/wait?\(query)")
            }
        }
        let watched = WatchedRelay(httpPort: relay.httpPort, sessionPorts: ports)
        try await Self.$current.withValue(watched) { try await function() }
    }
}
