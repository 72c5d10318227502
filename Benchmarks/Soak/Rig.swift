import Foundation
import Media
import Synchronization
import TestSupport

/// A sway desktop that moves at 60 Hz, a relay that captures it with screenshots as fallback, a session and the viewer
/// that watches it.
final class Rig: @unchecked Sendable {
    // Unchecked because what changes after the initialiser is behind a lock.

    static let token = "the soak's own link token"
    static let fps = 30
    static let size = PictureSize(width: 1280, height: 720)

    let desktop: Desktop
    let viewer: SteadyViewer
    let sessionPort: Int
    private let relayNow: Mutex<RelayProcess>
    /// The folder for the data of relay and agents: a separate disk that can be filled, if one could be mounted.
    let stateFolder: URL
    let hasOwnDisk: Bool
    /// The wall clock of relay and agents.
    let wallClock: WallClock
    /// How often a part of the desktop crashed without being killed.
    let crashes = Mutex(0)

    init(desktop: Desktop) async throws {
        self.desktop = desktop
        wallClock = try WallClock(in: desktop)
        stateFolder = desktop.directory.appendingPathComponent("home/.local/state")
        hasOwnDisk = try Self.mountDisk(at: stateFolder)
        let relay = try await Self.startRelay(in: desktop, ports: (0, 0), environment: wallClock.environment)
        relayNow = Mutex(relay)
        try await relay.post("/screencapture/broadcast/start", ["timeout": 60, "source": ["kind": "portal"]])
        let session = try await relay.startSession([
            "width": Self.size.width, "height": Self.size.height, "fps": Self.fps, "framing": "scrcpy",
        ])
        sessionPort = session.integer("port")
        viewer = try SteadyViewer(port: sessionPort)
        let viewer = viewer
        _ = try await eventually("a decoder that has caught up") {
            viewer.decodedCount > 90 && viewer.decodedCount + 8 > viewer.pictureCount ? true : nil
        }
    }

    var relay: RelayProcess { relayNow.withLock { $0 } }

    func end() {
        viewer.end()
        relay.terminate()
        if hasOwnDisk { _ = try? Programs.run(URL(fileURLWithPath: "/bin/umount"), ["--lazy", stateFolder.path]) }
    }

    // MARK: - The relay

    private static func startRelay(
        in desktop: Desktop,
        ports: (http: Int, agentLink: Int),
        environment: [String: String]
    ) async throws -> RelayProcess {
        try await RelayProcess(
            in: desktop,
            arguments: [
                "--watchdog", "1", "--agent-return-grace", "1", "--max-sessions", "1000", "--log-level", "warning",
                "--state-file", desktop.directory.appendingPathComponent("home/.local/state/relay.json").path,
                "--http", "127.0.0.1:\(ports.http)", "--agent-link", "127.0.0.1:\(ports.agentLink)",
            ],
            linkToken: token,
            fallback: nil,
            environment: environment
        )
    }

    /// Kills the relay and starts it again on the same ports.
    func restartRelay() async throws {
        let old = relay
        kill(old.pid, SIGKILL)
        old.terminate()
        let new = try await Self.startRelay(
            in: desktop,
            ports: (old.httpPort, old.agentPort),
            environment: wallClock.environment
        )
        relayNow.withLock { $0 = new }
    }

    // MARK: - What is seen of it

    func status() async throws -> Status { Status(of: try await relay.get("/screencapture/broadcast")) }

    /// Waits until the system is steady and the viewer sees the screen move.
    @discardableResult
    func steady(limit: Duration = .seconds(90)) async throws -> Status {
        let status = try await eventually("a steady broadcast and a warm standby", limit: limit) { () -> Status? in
            try await Task.sleep(for: .milliseconds(20))
            reviveDesktop()
            let status = try? await self.status()
            return status?.isSteady == true ? status : nil
        }
        let first = viewer.pictureCount
        _ = try await eventually("pictures of the moving screen", limit: limit) { () -> Bool? in
            let counters = viewer.pictures(from: first).compactMap(\.counter)
            return Set(counters).count >= 15 ? true : nil
        }
        return status
    }

    /// Restarts parts of the desktop that have crashed on their own.
    ///
    /// xdg-desktop-portal-wlr 0.7 sometimes crashes when its consumer goes. The portal is restarted with it: one that
    /// has come up meanwhile offers no screencasts until then.
    private func reviveDesktop() {
        for (program, parts) in [
            ("xdg-desktop-portal-wlr", ["portal-wlr", "portal"]), ("xdg-desktop-portal", ["portal"]),
        ]
        where desktop.processes(running: program).isEmpty {
            tell("the desktop's \(parts[0]) has crashed, and is started again")
            crashes.withLock { $0 += 1 }
            for part in parts { try? desktop.restart(part) }
        }
    }

    // MARK: - The disk

    private static func mountDisk(at folder: URL) throws -> Bool {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let owner = try Programs.run(
            URL(fileURLWithPath: "/usr/bin/stat"),
            ["-c", "%u", folder.deletingLastPathComponent().deletingLastPathComponent().path]
        ).output.trimmingCharacters(in: .whitespacesAndNewlines)
        for part in [folder.deletingLastPathComponent(), folder] {
            chown(part.path, uid_t(owner) ?? 0, gid_t.max)
        }
        guard geteuid() == 0 else { return false }
        let outcome = try Programs.run(
            URL(fileURLWithPath: "/bin/mount"),
            ["-t", "tmpfs", "-o", "size=1m,mode=700,uid=\(owner)", "tmpfs", folder.path]
        )
        return outcome.status == 0
    }

    /// Runs `body` while the state file's disk is full. Without such a disk, the relay may write no byte to a file
    /// meanwhile.
    func withFullDisk<Value>(_ body: () async throws -> Value) async throws -> Value {
        guard hasOwnDisk else { return try await desktop.limiting(.fileLength, to: 0, of: relay.pid, body) }
        fillDisk()
        defer { unlink(filling.path) }
        return try await body()
    }

    private var filling: URL { stateFolder.appendingPathComponent("filling") }

    private func fillDisk() {
        let file = open(filling.path, O_WRONLY | O_CREAT, 0o600)
        defer { close(file) }
        let block = [UInt8](repeating: 1, count: 512)
        while write(file, block, block.count) > 0 {}
    }

}

/// The relay's status of the broadcast, for the soak.
struct Status: Sendable, Equatable {
    var state: String
    var agent: Int32
    var isLinked: Bool
    var sourceState: String?
    var cause: String?
    var standby: Int32
    var standbyState: String?
    var standbySource: String?
    /// The agent whose pictures the session has.
    var feed: String?
    var switches: Int
    var switchCauses: [String: Int]

    init(of json: RelayProcess.Object) {
        state = json.string("state") ?? ""
        agent = Int32(json.object("agent").integer("pid"))
        isLinked = json.object("link")["connected"] as? Bool ?? false
        sourceState = json.object("source").string("state")
        cause = json.object("source").string("cause")
        let standby = json.object("standby")
        self.standby = Int32(standby.object("agent").integer("pid"))
        standbyState = standby.string("state")
        standbySource = standby.object("source").string("state")
        let session = (json["sessions"] as? [Any])?.first as? RelayProcess.Object ?? [:]
        feed = session.string("feed")
        switches = session.integer("switches")
        switchCauses = session.object("switchCauses").compactMapValues { ($0 as? NSNumber)?.intValue }
    }

    var isSteady: Bool {
        state == "live" && isLinked && sourceState == "streaming" && feed == "primary" && standbyState == "live"
            && standbySource == "streaming"
    }
}
