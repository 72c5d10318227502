import Foundation
import Relay
import RelayTestSupport
import TestSupport

/// A shell script that stands in for the agent's executable, in a folder of its own.
struct HelperScript: ~Copyable {
    private let folder: URL

    var path: String { folder.appendingPathComponent("capture-agent").path }

    /// The process id of each time that it was started.
    var runs: [Int32] { Self.runs(in: folder) }

    init(_ body: String) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("heliograph-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let script = "#!/bin/sh\necho $$ >> '\(folder.path)/runs'\n\(body)\n"
        try script.write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Kills the first run of the script at `path`.
    static func end(startedBy path: String) {
        guard let pid = runs(in: URL(fileURLWithPath: path).deletingLastPathComponent()).first else { return }
        kill(pid, SIGKILL)
    }

    private static func runs(in folder: URL) -> [Int32] {
        let text = (try? String(contentsOf: folder.appendingPathComponent("runs"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { Int32($0) }
    }

    /// Waits until no process of the group that `leader` led runs: the system takes a moment to end a killed one whose parent is gone.
    static func awaitEnd(of leader: Int32) async throws {
        try await eventually("the end of group \(leader)") { isAlive(leader) ? nil : () }
    }

    /// Whether a process of that group still runs. One that only waits for the system to reap it does not.
    private static func isAlive(_ leader: Int32) -> Bool {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return entries.filter { Int32($0) != nil }.contains { entry in
            let stat = (try? String(contentsOfFile: "/proc/\(entry)/stat", encoding: .utf8)) ?? ""
            // Behind the name in parentheses: state, parent, process group.
            let fields = stat.drop { $0 != ")" }.split(separator: " ")
            return fields.count > 3 && fields[1] != "Z" && fields[3] == "\(leader)"
        }
    }
}

extension RunningRelay {
    /// Runs a relay whose agent is the shell script `script`. Nothing that this started may be left afterwards.
    ///
    /// - Returns: How often it was started.
    @discardableResult
    static func run(
        agentScript script: String,
        _ configure: (inout RelayConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (RunningRelay) async throws -> Void
    ) async throws -> Int {
        let script = try HelperScript(script)
        let path = script.path
        try await run {
            $0.devices[0].agentExecutable = path
            configure(&$0)
        } _: {
            try await body($0)
        }
        let runs = script.runs
        for pid in runs { try await HelperScript.awaitEnd(of: pid) }
        return runs.count
    }
}
