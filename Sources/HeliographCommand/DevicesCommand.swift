import ArgumentParser
import CommandSupport
import HeliographAPI
import HeliographClient

struct DevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "Shows what each of the relay's devices does, one a line."
    )

    @OptionGroup var relay: RelayAddress
    @OptionGroup var format: AnswerFormat

    func run() async throws {
        try await CommandError.reporting {
            try await RelayClient.with(relay) { client in
                try format.show(try await client.answer(to: Routes.listBroadcasts)) { list in
                    list.broadcasts.map { Summary.text(of: $0) }.joined(separator: "\n")
                }
            }
        }
    }
}
