import ArgumentParser
import CommandSupport
import HeliographAPI
import HeliographClient

struct ListSessionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the sessions, one a line.",
        discussion: "Lists all sessions, or the selected ones. `heliograph session show` shows one in detail."
    )

    @OptionGroup var relay: RelayAddress
    @OptionGroup var format: AnswerFormat

    @Option(
        help: ArgumentHelp("Only sessions of this device.", valueName: "device"),
        completion: .custom(Completions.devices)
    )
    var device: String?

    @Option(
        help: ArgumentHelp("Only sessions of this name.", valueName: "name"),
        completion: .custom(Completions.sessionNames)
    )
    var name: String?

    @Option(help: ArgumentHelp("Only sessions with this label.", valueName: "text"))
    var label: String?

    @Option(help: "Only sessions in this state: live, waiting, asleep or stale.")
    var state: String?

    func run() async throws {
        var query = SessionListQuery()
        (query.device, query.name, query.label, query.state, query.brief) = (device, name, label, state, true)
        try await CommandError.reporting { [query] in
            try await RelayClient.with(relay) { client in
                try format.show(try await client.answer(to: Routes.listSessionsInBrief, query)) { list in
                    list.sessions.map { Summary.text(of: $0) }.joined(separator: "\n")
                }
            }
        }
    }
}
