import ArgumentParser

struct DrainCommand: AsyncParsableCommand {
    private struct Body: Encodable {
        let timeout: Double?
    }

    private struct Answer: Decodable {
        let viewers: Int
        let endsAt: String?
    }

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
                let bytes = try await client.post(
                    "/drain",
                    body: Body(timeout: timeout),
                    timeout: RelayClient.answerTime
                )
                let answer = try client.decode(Answer.self, from: bytes)
                print(
                    "draining, viewers: \(answer.viewers)"
                        + (answer.endsAt.map { ", ends at \($0) at the latest" } ?? "")
                )
            }
        }
    }
}
