import Foundation
import Relay
import RelayTestSupport
import TestSupport

/// A shell script, in a separate folder, that replaces the agent's executable.
struct HelperScript {
    private let scratch: Scratch
    let path: String

    /// The process ids of all its runs.
    var runs: [Int32] { Self.runs(in: scratch.folder) }

    init(_ body: String) throws {
        scratch = try Scratch()
        let script = "#!/bin/sh\necho $$ >> '\(scratch.file("runs").path)'\n\(body)\n"
        path = try scratch.program(script, named: "capture-agent")
    }

    /// Kills the first run of the script at `path`.
    static func end(startedBy path: String) {
        guard let pid = runs(in: URL(fileURLWithPath: path).deletingLastPathComponent()).first else { return }
        kill(pid, SIGKILL)
    }

    private static func runs(in folder: URL) -> [Int32] {
        let text = (try? String(contentsOf: folder.appendingPathComponent("runs"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { Int32($0) }
    }

    /// Waits until no process of the group of `leader` runs. The system takes a moment to end a killed process without
    /// a parent.
    static func awaitEnd(of leader: Int32) async throws {
        try await eventually("the end of group \(leader)") { isAlive(leader) ? nil : () }
    }

    /// Returns whether a process of that group still runs. A process that only has to be reaped does not count.
    private static func isAlive(_ leader: Int32) -> Bool {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return entries.filter { Int32($0) != nil }.contains { entry in
            let stat = (try? String(contentsOfFile: "/proc/\(entry)/stat", encoding: .utf8)) ?? ""
            // After the name in parentheses: state, parent, process group.
            let fields = stat.drop { $0 != ")" }.split(separator: " ")
            return fields.count > 3 && fields[1] != "Z" && fields[3] == "\(leader)"
        }
    }
}

extension RunningRelay {
    /// Runs a relay whose agent is the shell script `script`. None of its processes may be left afterwards.
    ///
    /// - Returns: The number of its starts.
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
