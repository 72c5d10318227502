import ArgumentParser
import CommandSupport
import HeliographAPI
import HeliographClient

struct SetSessionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Changes a session while it runs; its viewers stay.",
        discussion: """
            What you leave out stays. A new size begins with a keyframe.
              heliograph session set door --bitrate 2000000 --fps 15
              heliograph session set 1 --width 640 --height source
              heliograph session set 1 --on-demand --join live
            """
    )

    @OptionGroup var relay: RelayAddress
    @OptionGroup var selector: SessionSelector
    @OptionGroup var settings: SessionSettings
    @OptionGroup var format: AnswerFormat

    func validate() throws {
        try selector.check(namesOne: true)
        guard settings.change != SessionChange() else {
            throw ValidationError(
                "Nothing to change: give --bitrate, --fps, --width, --height, --max-pixels, --join or --on-demand."
            )
        }
    }

    func run() async throws {
        try await CommandError.reporting {
            try await RelayClient.with(relay) { client in
                let session = try await selector.address(client)
                try format.show(try await client.answer(to: Routes.changeSession, settings.change, at: session)) {
                    Summary.text(of: $0)
                }
            }
        }
    }
}

/// `heliograph set`, an alias of ``SetSessionCommand`` for scripts.
struct SetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "The same as heliograph session set."
    )

    @OptionGroup var command: SetSessionCommand

    func run() async throws { try await command.run() }
}
