import FoundationEssentials
import Program
import Subprocess
import SystemPackage
import Wire

/// The capture agent's findings about this desktop and machine.
struct AgentDiagnosis {
    private static let name = "capture-agent"
    /// Longest list of findings, bytes.
    private static let longestAnswer = 1 << 20
    /// The time limit for the agent. Each service that does not answer takes up to 5 s.
    private static let time = Duration.seconds(60)

    /// The agent's path; `nil` looks beside this executable, then in PATH.
    let executable: String?
    /// The device; `nil` for the agent's default.
    let device: String?
    /// How the agent would act on the desktop; `nil` for its default.
    let input: InputChoice?

    /// Runs the agent and returns its findings, or one finding that says why it failed.
    func findings() async -> [Finding] {
        await withTaskGroup(of: [Finding]?.self) { group in
            group.addTask { await ask() }
            group.addTask {
                try? await Task.sleep(for: Self.time)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next().flatMap { $0 } ?? [failure("it did not answer within \(Self.time)")]
        }
    }

    private func ask() async -> [Finding] {
        do {
            let result = try await Subprocess.run(
                program,
                arguments: Arguments(
                    ["--diagnose"] + (device.map { ["--device", $0] } ?? [])
                        + (input.map { ["--input", $0.rawValue] } ?? [])
                ),
                output: .bytes(limit: Self.longestAnswer),
                error: .string(limit: Self.longestAnswer)
            )
            guard case .exited(0) = result.terminationStatus else {
                let last = result.standardError.split(separator: "\n").last.map { ": \($0)" } ?? ""
                return [failure("it ended with \(result.terminationStatus)\(last)")]
            }
            let answer = [Finding("agent", .ok, "\(Self.name) runs.")]
            return answer + (try JSONDecoder().decode([Finding].self, from: Data(result.standardOutput)))
        } catch {
            return [failure("\(error)")]
        }
    }

    private func failure(_ reason: String) -> Finding {
        Finding(
            "agent",
            .failure,
            "\(Self.name) cannot be asked about this desktop: \(reason).",
            advice: "Install it beside heliograph or in PATH, or give its path with --agent."
        )
    }

    private var program: Executable {
        if let executable { return .path(FilePath(executable)) }
        let files = FileManager.default
        if let own = try? files.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
            let sibling = FilePath(own).removingLastComponent().appending(Self.name)
            if files.isExecutableFile(atPath: sibling.string) { return .path(sibling) }
        }
        return .name(Self.name)
    }
}
