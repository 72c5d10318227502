import ArgumentParser
import HeliographAPI
import NIOCore

struct DevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "Shows what each of the relay's devices does, one a line."
    )

    @OptionGroup var relay: RelayAddress

    @Flag(help: "Prints the relay's answer as it is.")
    var json = false

    func run() async throws {
        try await CommandError.reporting {
            try await RelayClient.with(relay) { client in
                if json {
                    return print(String(buffer: try await client.answer(to: Routes.listBroadcasts)), terminator: "")
                }
                for broadcast in try await client.report(of: Routes.listBroadcasts).broadcasts {
                    print(Summary.text(of: broadcast))
                }
            }
        }
    }
}
