import ArgumentParser
@preconcurrency import Glibc
import HeliographAPI

/// Why a command failed, in one line.
struct CommandError: Error, CustomStringConvertible {
    let description: String
    let exitCode: Int32
    /// Whether a key, or another one, would have helped.
    var isWantOfKey = false

    static func unreachable(_ url: String) -> CommandError {
        CommandError(
            description: "cannot reach the relay at \(url): is heliograph-relay running?",
            exitCode: EX_UNAVAILABLE
        )
    }

    static func failed(_ description: String) -> CommandError {
        CommandError(description: description, exitCode: 1)
    }

    /// The relay said no.
    static func refused(_ problem: ProblemReport) -> CommandError {
        let code = ProblemCode(rawValue: problem.code)
        return CommandError(
            description: "\(problem.detail) (\(problem.code))",
            exitCode: code == .waitTimeout ? EX_TEMPFAIL : 1,
            isWantOfKey: code == .missingKey || code == .wrongKey || code == .tooManyFailures
        )
    }

    /// Runs a command's body: an error becomes one line on standard error and the exit code.
    static func reporting(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let error as CommandError {
            fputs("heliograph: \(error)\n", stderr)
            throw ExitCode(error.exitCode)
        }
    }
}
