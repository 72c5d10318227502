package import Foundation

/// A private headless desktop with the counter on its screen: Tests/Desktop/desktop.
package final class Desktop: @unchecked Sendable {
    // Unchecked because nothing is written after the initialiser.

    package struct Failure: Error {
        package var message: String
    }

    package let directory: URL
    private let process = Process()
    /// The desktop ends when this closes, and therefore also when the test run dies.
    private let lifeline = Pipe()

    /// The kind of desktop.
    package enum Compositor: String {
        /// sway with the portal.
        case sway
        /// GNOME's compositor, which records itself.
        case mutter
        /// An X server.
        case xvfb
        /// Only PipeWire, for producers.
        case none
    }

    /// Starts a desktop.
    ///
    /// - Parameters:
    ///   - asks: Whether its portal asks for each screencast: ``answer(_:)``.
    ///   - letsProgramsAct: Whether its portal, which shares no screen, lets programs act: ``grant(devices:)``.
    ///   - client: Whether the counter is on its screen.
    package init(
        _ compositor: Compositor = .sway,
        size: String = "1280x720",
        sessionManager: Bool = true,
        asks: Bool = false,
        letsProgramsAct: Bool = false,
        client: Bool = true
    ) throws {
        directory = URL(fileURLWithPath: "/tmp/heliograph-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        process.executableURL = Programs.desktop
        process.arguments =
            ["start", directory.path, "--compositor", compositor.rawValue, "--size", size, "--until-stdin-closes"]
            + (sessionManager ? [] : ["--no-session-manager"]) + (asks ? ["--ask"] : [])
            + (letsProgramsAct ? ["--remote"] : []) + (client ? [] : ["--client", "none"])
        process.standardInput = lifeline
        let output = Pipe()
        process.standardOutput = output
        try Programs.start(process)
        guard let line = try output.fileHandleForReading.read(upToCount: 6), line == Data("ready\n".utf8) else {
            throw Failure(message: "the desktop did not come up; see its messages above")
        }
        try command("stage", Programs.product("capture-agent").path, Programs.product("heliograph-relay").path)
    }

    /// The environment by which a program finds this desktop.
    package func environment() throws -> [String: String] {
        let lines = try String(contentsOf: directory.appendingPathComponent("env"), encoding: .utf8)
        let pairs = lines.split(separator: "\n").compactMap { line in
            let parts = line.dropFirst("export ".count).split(separator: "=", maxSplits: 1)
            return parts.count == 2 ? (String(parts[0]), parts[1].trimmingCharacters(in: ["'"])) : nil
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    /// Ends the desktop and everything in it.
    package func end() {
        try? lifeline.fileHandleForWriting.close()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: directory)
    }

    package func pause() throws { try command("client", "pause") }
    package func resume() throws { try command("client", "resume") }
    package func resize(_ size: String) throws { try command("resize", size) }
    /// Turns sway's screen clockwise; the transform has sway's name.
    package func turn(_ transform: String) throws { try command("turn", transform) }

    /// Kills parts of the desktop and starts them again, one after the other.
    package func restart(_ parts: String...) throws {
        for part in parts { try command("restart", part) }
    }

    /// Restarts the counter client, which ends together with a compositor.
    package func startClient() throws { try command("client", "start") }

    /// Restarts the counter client with options of Tests/Desktop/counter-client.c. It begins again at 0.
    package func restartClient(_ options: [String]) throws {
        try command("client", "stop")
        try command("client", ["start"] + options)
    }

    /// Returns the process of a part, by its name in Tests/Desktop/desktop, or `nil` if there is none.
    package func process(ofPart name: String) -> Int32? {
        let file = directory.appendingPathComponent("run/pids/\(name)")
        let text = try? String(contentsOf: file, encoding: .utf8)
        return text.flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    /// Makes the counter move and be static in turns, one second each. It begins again at 0.
    package func moveInTurns() throws {
        try restartClient(["--turns", "1000"])
    }

    /// Starts a GStreamer pipeline that offers the counter as the PipeWire node `name`.
    package func startProducer(_ name: String, size: String, format: String = "BGRx", holdAt: Int? = nil) throws {
        let hold = holdAt.map { ["--hold-at", String($0)] } ?? []
        try command("producer", ["start", name, "--size", size, "--fps", "30", "--format", format] + hold)
    }

    /// Offers the counter as the PipeWire node `name`, in buffers as the options of Tests/Desktop/counter-node.c say.
    package func startNode(_ name: String, size: String, fps: Int = 30, holdAt: Int? = nil, buffers: [String]) throws {
        let hold = holdAt.map { ["--hold-at", String($0)] } ?? []
        try command(
            "producer",
            ["start", name, "--size", size, "--fps", String(fps)] + hold + ["--buffers"] + buffers
        )
    }

    package enum Answer: String {
        case grant, cancel
    }

    /// Answers the portal's question, which must be open.
    package func answer(_ answer: Answer) throws { try command("consent", answer.rawValue) }

    /// Moves the mouse pointer there. A desktop has none before.
    package func movePointer(x: Int, y: Int) throws { try command("pointer", String(x), String(y)) }

    package func stopProducer(_ name: String) throws {
        try command("producer", "stop", name)
    }

    /// Returns the counter value on the static screen.
    package func shownValue() throws -> Int {
        let text = try command("client", "value")
        guard let value = Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw Failure(message: "not a counter value: \(text)")
        }
        return value
    }

    /// Writes a PNG of the screen and returns its path.
    package func screenshot() throws -> String {
        let path = directory.appendingPathComponent("screen.png").path
        try command("screenshot", path)
        return path
    }

    /// Returns an identification of the file with the portal's restore token, and checks that only its owner can access
    /// it.
    package func restoreTokenFile() throws -> Int {
        let path = directory.appendingPathComponent("home/.local/state/heliograph/default/restore-token").path
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        guard attributes[.posixPermissions] as? Int == 0o600, (attributes[.size] as? Int ?? 0) > 0,
            let number = attributes[.systemFileNumber] as? Int
        else { throw Failure(message: "\(path) is empty or not its owner's alone") }
        return number
    }

    /// A process, not started yet, that runs a staged program in the desktop's environment.
    package func process(_ program: String, _ arguments: [String], environment: [String: String] = [:]) -> Process {
        let process = Process()
        process.executableURL = Programs.desktop
        process.arguments = ["exec", directory.path, program] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        process.standardInput = FileHandle.nullDevice
        return process
    }

    /// Returns the pids of the live processes in this desktop that run `program`.
    package func processes(running program: String) -> [Int32] {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return entries.compactMap { Int32($0) }.filter { pid in
            guard let line = try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(pid)/cmdline")),
                let name = line.split(separator: 0).first.map({ String(decoding: $0, as: UTF8.self) }),
                name == program || name.hasSuffix("/" + program),
                let environment = try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(pid)/environ"))
            else { return false }
            return String(decoding: environment, as: UTF8.self).contains(directory.path)
        }
    }

    /// Copies the command `heliograph` to where this desktop's user may run it.
    package func stageCommand() throws { try stage(product: "heliograph") }

    /// Copies a program of this package likewise.
    package func stage(product name: String) throws { try command("stage", Programs.product(name).path) }

    /// Compiles a tool of Tests/Desktop, and copies it to where this desktop's user may read it.
    package func stage(tool name: String) throws -> URL {
        let tool = try Programs.run(Programs.desktop, ["tool", name])
        guard tool.status == 0 else { throw Failure(message: tool.errors) }
        try command("stage", tool.output.trimmingCharacters(in: .whitespacesAndNewlines))
        return directory.appendingPathComponent("bin/\(name)")
    }

    @discardableResult
    func command(_ name: String, _ arguments: String...) throws -> String {
        try command(name, arguments)
    }

    @discardableResult
    func command(_ name: String, _ arguments: [String]) throws -> String {
        let outcome = try Programs.run(Programs.desktop, [name, directory.path] + arguments)
        guard outcome.status == 0 else { throw Failure(message: outcome.errors) }
        return outcome.output
    }
}
