import ArgumentParser
@preconcurrency import Glibc
import HeliographAPI
package import HeliographClient

/// Why a command failed, in one line.
package struct CommandError: Error, Hashable, CustomStringConvertible {
    package let description: String
    package let exitCode: Int32

    package init(description: String, exitCode: Int32) {
        (self.description, self.exitCode) = (description, exitCode)
    }

    package static func failed(_ description: String) -> CommandError {
        CommandError(description: description, exitCode: 1)
    }

    /// Runs a command's body. An error becomes one line on standard error and the exit status.
    package static func reporting(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            guard let error = CommandError(describing: error) else { throw error }
            fputs("heliograph: \(error)\n", stderr)
            throw ExitCode(error.exitCode)
        }
    }

    /// Runs `body` and turns its error, a sentence that says what to do, into this command's.
    package static func reporting<Value, Failure: Error & CustomStringConvertible>(
        _ body: () throws(Failure) -> Value
    ) throws(CommandError) -> Value {
        do {
            return try body()
        } catch {
            throw .failed("\(error)")
        }
    }
}

extension CommandError {
    /// Creates the error for another one; `nil` if it is neither the command's nor the relay's.
    package init?(describing error: any Error) {
        switch error {
        case let error as CommandError: self = error
        case let error as RelayError: self.init(error)
        default: return nil
        }
    }

    /// Creates the error for one of the relay, whose own advice is for programs.
    package init(_ error: RelayError) {
        let description: String
        switch error.problem {
        case .unknownSession?, .unknownItem?, .unknownPlaylist?:
            description = error.place?.absence ?? error.description
        case .unknownTemplate?: description = "the device has no such template: upload it by `heliograph template put`"
        default:
            description = error.description
                .replacing("start the broadcast first", with: "run `heliograph start` first")
                .replacing("and pin it", with: "and trust it by `heliograph trust add`, or by --fingerprint")
                .replacing(
                    "and pin that one instead",
                    with: "and name that one, or replace it by `heliograph trust remove` and `heliograph trust add`"
                )
                .replacing(": name one of", with: ": give one by --device:")
        }
        let code = error.kind == .refused ? error.code.map { " (\($0))" } ?? "" : ""
        self.init(
            description: description + code,
            exitCode: error.kind == .unreachable ? EX_UNAVAILABLE : EXIT_FAILURE
        )
    }
}

extension RelayError {
    /// Whether a key, or a different one, might have helped.
    package var isWantOfKey: Bool {
        [.missingKey, .wrongKey, .tooManyFailures, .notPaired, .pairingRequired].contains(problem)
    }
}

extension CallPlace {
    /// The text for a session that the relay does not know, with how to find or start it.
    package var absence: String? {
        if let id = parameters["id"] {
            return "there is no session \(id), or it has ended: `heliograph session list` shows the sessions"
        }
        if let item = parameters["item"] {
            return "there is no recording \(item): `heliograph library list` shows which there are"
        }
        if let playlist = parameters["playlist"] {
            return "there is no playlist \(playlist): `heliograph library playlist list` shows which there are"
        }
        guard let device = parameters["device"] else { return nil }
        let name = parameters["name"] ?? Route.sharedSession
        return "device \(device) has no session \(name), or it has ended: start it with "
            + "`heliograph session start \(name) --device \(device)`"
    }
}
