import Foundation
import TestSupport

/// An encoder of the rig's session that hangs: its thread stops in the middle of a picture. The agent's link and
/// heartbeats continue.
final class HungEncoder: @unchecked Sendable {
    // Unchecked because nothing is written after the initialiser.

    private let process = Process()
    /// The thread continues when this closes, and therefore also when the soak dies.
    private let lifeline = Pipe()

    /// Waits until the agent has an encoder for the session, and makes it hang.
    static func begin(in agent: Int32, _ rig: Rig) async throws -> HungEncoder {
        guard agent > 1 else { throw NeverCame(description: "no agent whose encoder could hang") }
        let tool = try rig.desktop.stage(tool: "thread-stop")
        return try await inThread { try HungEncoder(agent, tool) }
    }

    private init(_ agent: Int32, _ tool: URL) throws {
        process.executableURL = tool
        process.arguments = ["\(agent)", "encoder-1", "libx264"]
        process.standardInput = lifeline
        let output = Pipe()
        process.standardOutput = output
        try Programs.start(process)
        guard let line = try output.fileHandleForReading.read(upToCount: 8), line == Data("stopped\n".utf8) else {
            throw NeverCame(description: "process \(agent)'s encoder could not be stopped")
        }
    }

    /// Resumes the thread, if it still exists.
    func end() {
        try? lifeline.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
