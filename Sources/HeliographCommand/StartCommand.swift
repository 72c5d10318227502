import ArgumentParser
import CommandSupport
import HeliographAPI
import HeliographClient
import NIOCore

struct StartCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start",
        abstract: "Starts the broadcast, unless it runs already.",
        discussion: """
            A source may say which one is meant:
              heliograph start --source mutter:DP-1         that monitor of GNOME's
              heliograph start --source screenshot:HDMI-A-1 that monitor, by screenshots
              heliograph start --source node:camera         a PipeWire node, by its name, serial or id
            """
    )

    @OptionGroup var options: RelayOptions
    @OptionGroup var format: AnswerFormat

    @Option(
        help: "What to capture: \(SourceArgument.allowed). Default: the device's own.",
        completion: SourceArgument.completion,
        transform: SourceArgument.request
    )
    var source: SourceRequest?

    @Option(help: ArgumentHelp("How long the start may take, 0.1 to 120.", valueName: "s"))
    var timeout = 15.0

    @Option(
        help: ArgumentHelp(
            "The broadcast ends after this long without a session, 1 to 86400. Default: never.",
            valueName: "s"
        )
    )
    var ttl: Int?

    func validate() throws {
        guard (0.1...120).contains(timeout) else { throw ValidationError("--timeout is 0.1 to 120 s") }
    }

    func run() async throws {
        var start = BroadcastStart()
        start.device = options.device
        start.timeout = timeout
        start.source = source
        start.ttl = ttl
        try await CommandError.reporting { [start] in
            try await RelayClient.with(options.address) { client in
                let answer = try await client.answer(
                    to: Routes.startBroadcast,
                    start,
                    timeout: .seconds(timeout) + RelayClient.answerTime
                )
                try format.show(answer, text)
            }
        }
    }

    private func text(of answer: StartedBroadcast) -> String {
        var text = "\(answer.device): live, source \(Summary.text(of: answer.source))"
        if let agent = answer.agent { text += ", agent \(agent.pid)" }
        if answer.alreadyRunning { return text + ", was running already" }
        return text + (answer.timings?.totalMs.map { ", started in \(Figure.text($0, places: 0)) ms" } ?? "")
    }
}
