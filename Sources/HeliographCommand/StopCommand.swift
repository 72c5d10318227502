import ArgumentParser
import NIOCore

struct StopCommand: AsyncParsableCommand {
    private struct Body: Encodable {
        let device: String?
    }

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
                let bytes = try await client.post(
                    "/screencapture/broadcast/stop",
                    body: Body(device: options.device),
                    timeout: Self.answerTime
                )
                let answer = try client.decode(StopAnswer.self, from: bytes)
                print("\(answer.device): \(answer.wasRunning ? "stopped" : "was not running")")
            }
        }
    }
}
