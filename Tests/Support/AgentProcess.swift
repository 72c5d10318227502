package import Foundation

/// A capture agent in a separate process, for which the system can be made to refuse descriptors and threads.
package final class AgentProcess {
    /// A resource that can be limited (getrlimit(2)).
    package enum Limit: String {
        /// Open files: every descriptor is below this number.
        case descriptors = "nofile"
        /// The threads of the process's user.
        case threads = "nproc"

        /// The name in /proc.
        fileprivate var name: String { self == .descriptors ? "Max open files" : "Max processes" }
    }

    /// Whether thread limits take effect. The system exempts root, but tests that run as root may use another user
    /// instead.
    package static let canLimitThreads = getuid() != 0 || FileManager.default.isExecutableFile(atPath: setpriv)

    private static let setpriv = "/usr/bin/setpriv"

    package let process: Process
    private let messages: Collector
    /// A process, not started yet, of the agent's user, who may limit it.
    private let command: ([String]) -> Process

    /// The agent's process: what is started becomes it.
    package var pid: Int32 { process.processIdentifier }
    package var isRunning: Bool { process.isRunning }

    /// Starts an agent for the relay at `port` on loopback.
    ///
    /// - Parameters:
    ///   - limits: The limits from its start on.
    ///   - desktop: The desktop to run in; `nil` for none.
    package init(
        relay port: UInt16,
        _ arguments: [String],
        limits: [Limit: Int] = [:],
        in desktop: Desktop? = nil
    ) throws {
        command = desktop.map { desktop in { desktop.process($0[0], Array($0.dropFirst())) } } ?? Self.withoutDesktop()
        let agent = desktop == nil ? Programs.product("capture-agent").path : "capture-agent"
        process = command(
            ["prlimit"] + limits.map { "--\($0.rawValue)=\($1):" }
                + [agent, "--relay", "127.0.0.1:\(port)", "--state-directory", "/nonexistent"] + arguments
        )
        process.environment?["HELIOGRAPH_LINK_TOKEN"] = "secret"
        let errors = Pipe()
        process.standardError = errors
        try Programs.start(process)
        messages = Collector(errors.fileHandleForReading)
    }

    /// Creates processes of a user that has no others.
    private static func withoutDesktop() -> ([String]) -> Process {
        let user = String(Int.random(in: 61_184...65_519))
        let asUser = getuid() == 0 ? [setpriv, "--reuid", user, "--regid", user, "--clear-groups", "--"] : []
        return { words in
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = asUser + words
            process.environment = ProcessInfo.processInfo.environment
            process.standardInput = FileHandle.nullDevice
            return process
        }
    }

    package func threadNames() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task").compactMap { thread in
            let name = try? String(contentsOfFile: "/proc/\(pid)/task/\(thread)/comm", encoding: .utf8)
            return name?.trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    /// Makes the system refuse what is above a limit while `body` runs.
    package func limiting<Value>(_ limit: Limit, to value: Int, _ body: () async throws -> Value) async throws -> Value
    {
        let before = try limitNow(limit)
        try set(limit, "\(value)")
        defer { try? set(limit, before) }
        return try await body()
    }

    /// Lifts a limit that it was started with.
    package func lift(_ limit: Limit) throws { try set(limit, limitNow(limit, column: 1)) }

    /// - Parameter column: 0 for the soft limit, 1 for the hard one.
    private func limitNow(_ limit: Limit, column: Int = 0) throws -> String {
        let lines = try String(contentsOfFile: "/proc/\(pid)/limits", encoding: .utf8).split(separator: "\n")
        let columns = lines.first { $0.hasPrefix(limit.name) }?.dropFirst(limit.name.count).split(separator: " ")
        guard let columns, columns.count > column else { throw NeverCame(description: "\(limit.name) of \(pid)") }
        return String(columns[column])
    }

    private func set(_ limit: Limit, _ value: String) throws {
        let prlimit = command(["prlimit", "--pid", "\(pid)", "--\(limit.rawValue)=\(value):"])
        try Programs.start(prlimit)
        prlimit.waitUntilExit()
        guard prlimit.terminationStatus == 0 else { throw NeverCame(description: "\(limit.name) of \(value)") }
    }

    /// How a process ended.
    package enum End: Equatable {
        case status(Int32)
        case signal(Int32)
    }

    /// Waits for its end, and returns how it ended and what it said. Called once.
    package func waitForEnd() -> (end: End, said: String) {
        process.waitUntilExit()
        let said = String(decoding: messages.wait(), as: UTF8.self)
        let status = process.terminationStatus
        return (process.terminationReason == .exit ? .status(status) : .signal(status), said)
    }

    /// Tells it to end and waits. Returns how it ended and its output. Must be called once.
    package func end() -> (end: End, said: String) {
        process.terminate()
        return waitForEnd()
    }
}
