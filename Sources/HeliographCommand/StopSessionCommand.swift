import ArgumentParser
import CommandSupport
import HeliographAPI
import HeliographClient

struct StopSessionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Ends a session; its viewers see the end of their streams.",
        discussion: """
            By its name it may have ended already: a script can always stop what it has started. --all ends all sessions, or
            all of a --device.
              heliograph session stop door
            """
    )

    @OptionGroup var relay: RelayAddress
    @OptionGroup var selector: SessionSelector
    @OptionGroup var format: AnswerFormat

    @Flag(help: "Ends all sessions of the relay, or of the --device.")
    var all = false

    func validate() throws {
        guard all else { return try selector.check(namesOne: true) }
        if let session = selector.session ?? selector.name {
            throw ValidationError("'\(session)' and --all are not the same: give one of them.")
        }
    }

    func run() async throws {
        try await CommandError.reporting {
            try await RelayClient.with(relay) { client in
                if all { return try await stopAll(client) }
                let session = try await selector.address(client)
                guard case .named(let name, let device) = session else {
                    return try format.show(try await client.answer(to: Routes.stopSession, at: session)) {
                        "session \($0.id): stopped"
                    }
                }
                try format.show(try await client.answer(to: Routes.deleteSession, at: session)) { answer in
                    answer.stopped > 0
                        ? "session \(name) of device \(device): stopped" : "device \(device) has no session \(name)"
                }
            }
        }
    }

    private func stopAll(_ client: RelayClient) async throws {
        var stop = SessionsStop()
        stop.device = selector.device
        stop.all = selector.device == nil ? true : nil
        try format.show(try await client.answer(to: Routes.stopSessions, stop)) { "sessions stopped: \($0.stopped)" }
    }
}
