import ArgumentParser
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
                let answer = try await client.get("/screencapture/broadcasts")
                if json { return print(String(buffer: answer), terminator: "") }
                for broadcast in try client.decode(DevicesAnswer.self, from: answer).broadcasts {
                    print(Summary.text(of: broadcast))
                }
            }
        }
    }
}
