import ArgumentParser
import CommandSupport
import HeliographAPI
import HeliographClient
import NIOCore

struct StopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Stops the broadcast; sessions stay.",
        discussion: "Does nothing if no broadcast runs."
    )

    @OptionGroup var options: RelayOptions
    @OptionGroup var format: AnswerFormat

    func run() async throws {
        try await CommandError.reporting {
            try await RelayClient.with(options.address) { client in
                let call = Routes.stopBroadcast
                let answer = try await client.answer(to: call, options.argument, timeout: RelayClient.stopTime)
                try format.show(answer) { "\($0.device): \($0.wasRunning ? "stopped" : "was not running")" }
            }
        }
    }
}
