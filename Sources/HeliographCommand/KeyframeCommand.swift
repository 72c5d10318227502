import ArgumentParser
import CommandSupport
import HeliographAPI
import HeliographClient

struct KeyframeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keyframe",
        abstract: "Asks a session's encoder for a keyframe now.",
        discussion: "A --device alone means the session that the device's viewers share, if it runs."
    )

    @OptionGroup var relay: RelayAddress
    @OptionGroup var selector: SessionSelector
    @OptionGroup var format: AnswerFormat

    func validate() throws { try selector.check() }

    func run() async throws {
        try await CommandError.reporting {
            try await RelayClient.with(relay) { client in
                let session = try await selector.address(client)
                try format.show(try await client.answer(to: Routes.requestKeyframe, at: session)) {
                    "session \($0.id): asked for a keyframe"
                }
            }
        }
    }
}
