import ArgumentParser
import CommandSupport
import HeliographAPI
import HeliographClient

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows the broadcast and its sessions."
    )

    @OptionGroup var options: RelayOptions
    @OptionGroup var format: AnswerFormat

    func run() async throws {
        try await CommandError.reporting {
            try await RelayClient.with(options.address) { client in
                try format.show(try await client.answer(to: Routes.getBroadcast, options.argument)) {
                    Summary.text(of: $0)
                }
            }
        }
    }
}
