import Foundation
import HeliographAPI
import Logging
import NIOCore
import Relay
import RelayTestSupport
import TestSupport
import Testing

/// A relay in a separate process, which reads its configuration again.
@Suite("SIGHUP")
struct ReloadTests {
    private final class Relay: @unchecked Sendable {
        // Unchecked because nothing is written after the initialiser.

        let process = Process()
        let url: String
        private let scratch = try! Scratch()
        private var file: URL { scratch.file("relay.yaml") }
        private var log: URL { scratch.file("log") }

        init(_ configuration: String) async throws {
            let ports = scratch.file("ports")
            try Data(configuration.utf8).write(to: scratch.file("relay.yaml"))
            _ = FileManager.default.createFile(atPath: scratch.file("log").path, contents: nil)
            process.executableURL = Programs.product("heliograph-relay")
            process.arguments = [
                "--config", scratch.file("relay.yaml").path, "--http", "127.0.0.1:0", "--agent-link", "127.0.0.1:0",
                "--session-port-base", "0", "--ports-file", ports.path,
            ]
            process.standardError = try FileHandle(forWritingTo: scratch.file("log"))
            try Programs.start(process)
            let port = try await eventually("the relay's port") { () -> JSONValue? in
                try FileManager.default.contents(atPath: ports.path).flatMap { try JSONValue(parsing: $0)["http"] }
            }
            url = "http://127.0.0.1:\(port.text)"
        }

        /// Writes the configuration, sends the signal, and waits for a line with `text` in the log.
        func reload(_ configuration: String, untilLogSays text: String) async throws {
            try Data(configuration.utf8).write(to: file)
            kill(process.processIdentifier, SIGHUP)
            _ = try await eventually("\(text) in the log") {
                try String(contentsOf: log, encoding: .utf8).contains(text) ? () : nil
            }
        }

        /// Returns the statuses of `count` starts of sessions.
        func startSessions(_ count: Int) throws -> [String] {
            try (0..<count).map { _ in
                try Tool.run(
                    "/usr/bin/curl",
                    ["-s", "-o", "/dev/null", "-w", "%{http_code}", "-X", "POST", "\(url)/screencapture/start"]
                )
            }
        }

        func end() {
            if process.isRunning { process.terminate() }
            process.waitUntilExit()
        }
    }

    @Test("changes what can change, and names what cannot")
    func changes() async throws {
        let relay = try await Relay("maxSessions: 1")
        defer { relay.end() }
        #expect(try relay.startSessions(2) == ["201", "503"])
        try await relay.reload(
            "{maxSessions: 3, watchdog: 9}",
            untilLogSays: "started again for these to count: watchdog"
        )
        #expect(try relay.startSessions(3) == ["201", "201", "503"])
        try await relay.reload("{maxSessions: 3, watchdog: 9, logLevel: debug}", untilLogSays: "changed: logLevel")
    }

    @Test("changes how many may wait for a session that is there")
    func waits() async throws {
        let relay = try await Relay("maxViewers: 1")
        defer { relay.end() }
        #expect(try relay.startSessions(1) == ["201"])
        let url = "\(relay.url)/screencapture/1/wait?until=changed"
        func wait() throws -> Process {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
            process.arguments = ["-s", "-o", "/dev/null", "\(url)&timeout=60"]
            try Programs.start(process)
            return process
        }
        var first = try wait()
        defer { first.terminate() }
        func probe() throws -> String {
            try Tool.run("/usr/bin/curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}", "\(url)&timeout=0"])
        }
        _ = try await eventually("the only place to be taken") {
            // A probe may have had the place when the other call came.
            if !first.isRunning { first = try wait() }
            return try probe() == "503" ? true : nil
        }
        try await relay.reload("maxViewers: 2", untilLogSays: "the configuration was read again")
        #expect(try probe() == "504")
    }

    @Test("changes nothing if the file is wrong, and says where")
    func faults() async throws {
        let relay = try await Relay("maxSessions: 2")
        defer { relay.end() }
        try await relay.reload(
            "maxSessions: 5\nmaxSesions: 7",
            untilLogSays: "relay.yaml:2:1: Unknown field 'maxSesions'."
        )
        #expect(try relay.startSessions(3) == ["201", "201", "503"])
        #expect(relay.process.isRunning)
    }

    @Test("ends the relay when it comes because its terminal has closed")
    func terminal() async throws {
        let scratch = try Scratch()
        let file = try scratch.write(Array("maxSessions: 2".utf8), to: "relay.yaml")
        let ports = scratch.file("ports")
        let terminal = Process()
        terminal.executableURL = URL(fileURLWithPath: "/usr/bin/script")
        terminal.arguments = [
            "--quiet", "--command",
            "exec \(Programs.product("heliograph-relay").path) --config \(file.path) --ports-file \(ports.path) "
                + "--http 127.0.0.1:0 --agent-link 127.0.0.1:0",
            "/dev/null",
        ]
        let keyboard = Pipe()
        terminal.standardInput = keyboard
        terminal.standardOutput = FileHandle.nullDevice
        try Programs.start(terminal)
        defer { if terminal.isRunning { kill(terminal.processIdentifier, SIGKILL) } }
        let pid = try await eventually("the relay") { () -> Int32? in
            guard let data = FileManager.default.contents(atPath: ports.path),
                case .integer(let pid) = try JSONValue(parsing: data)["pid"]
            else { return nil }
            return Int32(pid)
        }
        kill(terminal.processIdentifier, SIGKILL)
        try await HelperScript.awaitEnd(of: pid)
        withExtendedLifetime(keyboard) {}
    }
}

@Suite("Another configuration")
struct ConfigurationChangeTests {
    @Test("is applied if possible; other settings are named")
    func differences() {
        let before = RelayConfiguration()
        #expect(before.differences(to: before) == ([], []))
        var after = before
        after.logLevel = .debug
        after.agentUsers = [4711]
        after.viewerMemory = 1 << 20
        after.connections.maximum = 9
        after.connections.idleTimeout = .seconds(7)
        after.devices[0].maximumViewers = 7
        after.http.port = 1
        after.keysFile = "/k"
        after.logFormat = .json
        let (changed, fixed) = before.differences(to: after)
        #expect(
            changed == ["logLevel", "agentUsers", "viewerMemory", "maxConnections", "idleTimeout", "devices.default"]
        )
        #expect(fixed == ["http", "keysFile", "logFormat"])
        let taken = before.taking(after)
        #expect(taken.differences(to: after) == ([], fixed))
        #expect(taken.http == before.http)
    }

    @Test("does not add or remove devices, and does not mind that a token of the relay's own is another")
    func devices() {
        let before = RelayConfiguration()
        var after = RelayConfiguration()
        after.devices = [DeviceConfiguration(name: "tv")]
        #expect(before.differences(to: after) == ([], ["devices"]))
        #expect(before.taking(after).devices == before.devices)
    }
}
