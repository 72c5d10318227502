import ArgumentParser
import CommandSupport
@preconcurrency import Glibc
import HeliographAPI
import HeliographClient
import NIOCore
import Wire

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

    @Option(
        help: ArgumentHelp(
            """
            How long the start may take, 0.1 to 3600. Default: 15, and while the desktop's dialog waits for a person's \
            answer, no limit.
            """,
            valueName: "s"
        )
    )
    var timeout: Double?

    @Option(
        help: ArgumentHelp(
            "The broadcast ends after this long without a session, 1 to 86400. Default: never.",
            valueName: "s"
        )
    )
    var ttl: Int?

    func validate() throws {
        guard timeout.map((0.1...3600).contains) ?? true else { throw ValidationError("--timeout is 0.1 to 3600 s") }
    }

    func run() async throws {
        var start = BroadcastStart()
        start.device = options.device
        start.timeout = timeout
        start.source = source
        start.ttl = ttl
        try await CommandError.reporting { [start] in
            try await RelayClient.with(options.address) { client in
                let notice = Task { await tellOfDialog(start.device, client) }
                defer { notice.cancel() }
                let answer = try await client.answer(
                    to: Routes.startBroadcast,
                    start,
                    timeout: .seconds(timeout ?? Self.patience) + RelayClient.answerTime
                )
                try format.show(answer, text)
            }
        }
    }

    /// The longest wait if no timeout is given, in s.
    private static let patience = 3600.0

    /// Says on standard error that a person must answer the desktop's dialog, once it is open.
    private func tellOfDialog(_ device: String?, _ client: RelayClient) async {
        while (try? await Task.sleep(for: .seconds(2))) != nil {
            guard let report = try? await client.report(of: Routes.getBroadcast, DeviceArgument(device: device)) else {
                continue
            }
            guard report.source.cause == SourceStatus.waitingForConsent else { continue }
            fputs("heliograph: \(report.source.detail ?? "the desktop asks a person what to share")\n", stderr)
            return
        }
    }

    private func text(of answer: StartedBroadcast) -> String {
        var text = "\(answer.device): live, source \(Summary.text(of: answer.source))"
        if let agent = answer.agent { text += ", agent \(agent.pid)" }
        if answer.alreadyRunning { return text + ", was running already" }
        return text + (answer.timings?.totalMs.map { ", started in \(Figure.text($0, places: 0)) ms" } ?? "")
    }
}
