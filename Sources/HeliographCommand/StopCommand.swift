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

    @Flag(help: "Keeps feeding the sessions with screenshots, if the device has them as its fallback.")
    var keepScreenshots = false

    func run() async throws {
        var stop = BroadcastStop()
        (stop.device, stop.keepScreenshots) = (options.device, keepScreenshots)
        try await CommandError.reporting { [stop] in
            try await RelayClient.with(options.address) { client in
                let call = Routes.stopBroadcast
                let answer = try await client.answer(to: call, stop, timeout: RelayClient.stopTime)
                try format.show(answer, text)
            }
        }
    }

    private func text(of answer: StoppedBroadcast) -> String {
        let text = "\(answer.device): \(answer.wasRunning ? "stopped" : "was not running")"
        guard keepScreenshots else { return text }
        return text + (answer.screenshots ? "; screenshots feed its sessions" : "; it has no fallback for screenshots")
    }
}
