import ArgumentParser
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
                let answer = try await client.get("/screencapture/broadcast\(options.query)")
                if json {
                    print(String(buffer: answer), terminator: "")
                } else {
                    print(Summary.text(of: try client.decode(StatusAnswer.self, from: answer)))
                }
            }
        }
    }
}
