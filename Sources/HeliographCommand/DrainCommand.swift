import ArgumentParser
import HeliographAPI

struct DrainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain",
        abstract: "Lets the relay's viewers finish, takes nobody new, and ends the relay then.",
        discussion: "A relay that is started again goes on with its sessions."
    )

    @OptionGroup var address: RelayAddress

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
                let answer = try await client.report(of: Routes.drain, DrainRequest(timeout: timeout))
                print(
                    "draining, viewers: \(answer.viewers)"
                        + (answer.endsAt.map { ", ends at \($0) at the latest" } ?? "")
                )
            }
        }
    }
}
