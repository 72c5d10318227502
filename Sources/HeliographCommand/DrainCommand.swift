import ArgumentParser
import CommandSupport
import HeliographAPI
import HeliographClient

struct DrainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain",
        abstract: "Lets the relay's viewers finish, takes nobody new, and ends the relay then.",
        discussion: "A restarted relay restores its sessions."
    )

    @OptionGroup var address: RelayAddress
    @OptionGroup var format: AnswerFormat

    @Option(
        help: ArgumentHelp(
            "After how long the relay ends in any case, 0 to 86400. Default: never.",
            valueName: "s"
        )
    )
    var timeout: Double?

    func run() async throws {
        try await CommandError.reporting {
            try await RelayClient.with(address) { client in
                try format.show(try await client.answer(to: Routes.drain, DrainRequest(timeout: timeout))) { answer in
                    "draining, viewers: \(answer.viewers)"
                        + (answer.endsAt.map { ", ends at \($0) at the latest" } ?? "")
                }
            }
        }
    }
}
