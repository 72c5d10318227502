import ArgumentParser
import HeliographAPI
import NIOCore

struct StopCommand: AsyncParsableCommand {
    /// The relay waits for an agent that is slow to leave.
    private static let answerTime = TimeAmount.seconds(20)

    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Stops the broadcast; sessions stay.",
        discussion: "Does nothing when it does not run."
    )

    @OptionGroup var options: RelayOptions

    func run() async throws {
        try await CommandError.reporting {
            try await RelayClient.with(options.address) { client in
                let answer = try await client.report(
                    of: Routes.stopBroadcast,
                    options.argument,
                    timeout: Self.answerTime
                )
                print("\(answer.device): \(answer.wasRunning ? "stopped" : "was not running")")
            }
        }
    }
}
