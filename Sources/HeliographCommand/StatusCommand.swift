import ArgumentParser
import HeliographAPI
import NIOCore

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows the broadcast and its sessions."
    )

    @OptionGroup var options: RelayOptions

    @Flag(help: "Prints the relay's answer as it is.")
    var json = false

    func run() async throws {
        try await CommandError.reporting {
            try await RelayClient.with(options.address) { client in
                if json {
                    let answer = try await client.answer(to: Routes.getBroadcast, options.argument)
                    print(String(buffer: answer), terminator: "")
                } else {
                    print(Summary.text(of: try await client.report(of: Routes.getBroadcast, options.argument)))
                }
            }
        }
    }
}
