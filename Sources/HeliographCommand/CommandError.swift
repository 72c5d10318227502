import ArgumentParser
@preconcurrency import Glibc
import HeliographAPI

/// Why a command failed, in one line.
struct CommandError: Error, CustomStringConvertible {
    let description: String
    let exitCode: Int32
    /// Whether a key, or a different one, might have helped.
    var isWantOfKey = false
    /// Whether the connection to the relay was lost, which may be temporary.
    var isLossOfRelay = false
    /// Why the relay refused; `nil` if it did not.
    var code: ProblemCode?

    /// Creates the error for a relay that cannot be reached.
    static func unreachable(_ url: String) -> CommandError {
        CommandError(
            description: "cannot reach the relay at \(url): is heliograph-relay running?",
            exitCode: EX_UNAVAILABLE,
            isLossOfRelay: true
        )
    }

    /// Creates the error for an incomplete answer.
    static func brokenOff(_ description: String) -> CommandError {
        CommandError(description: description, exitCode: 1, isLossOfRelay: true)
    }

    static func failed(_ description: String) -> CommandError {
        CommandError(description: description, exitCode: 1)
    }

    /// Creates the error for a call that the relay refused.
    ///
    /// - Parameter place: The object of the call.
    static func refused(_ problem: ProblemReport, about place: CallPlace) -> CommandError {
        let code = ProblemCode(rawValue: problem.code)
        // The relay's own advice is for callers of its API, not for users of this command.
        let detail =
            switch code {
            case .unknownSession, .unknownItem, .unknownPlaylist: place.absence ?? problem.detail
            case .unknownTemplate: "the device has no such template: upload it by `heliograph template put`"
            default: problem.detail.replacing("start the broadcast first", with: "run `heliograph start` first")
            }
        return CommandError(
            description: "\(detail) (\(problem.code))",
            exitCode: 1,
            isWantOfKey: code == .missingKey || code == .wrongKey || code == .tooManyFailures,
            code: code
        )
    }

    /// Runs a command's body. An error becomes one line on standard error and the exit status.
    static func reporting(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let error as CommandError {
            fputs("heliograph: \(error)\n", stderr)
            throw ExitCode(error.exitCode)
        }
    }

    /// Runs `body` and turns its error, a sentence that says what to do, into this command's.
    static func reporting<Value, Failure: Error & CustomStringConvertible>(
        _ body: () throws(Failure) -> Value
    ) throws(CommandError) -> Value {
        do {
            return try body()
        } catch {
            throw .failed("\(error)")
        }
    }
}
