import ArgumentParser
import CommandSupport
import HeliographAPI
import HeliographClient

struct ShowSessionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows a session's settings and its current figures.",
        discussion: "--json prints all of them."
    )

    @OptionGroup var relay: RelayAddress
    @OptionGroup var selector: SessionSelector
    @OptionGroup var format: AnswerFormat

    func validate() throws { try selector.check(namesOne: true) }

    func run() async throws {
        try await CommandError.reporting {
            try await RelayClient.with(relay) { client in
                let session = try await selector.address(client)
                try format.show(try await client.answer(to: Routes.getSession, at: session)) { session in
                    "\(Summary.text(of: session))\n  device \(session.device), \(session.state), since \(session.createdAt)"
                        + (session.label.map { ", \($0)" } ?? "")
                }
            }
        }
    }
}
