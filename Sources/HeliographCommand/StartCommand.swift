import ArgumentParser
import HeliographAPI
import NIOCore
import Wire

struct StartCommand: AsyncParsableCommand {
    /// How much longer than the broadcast's own timeout the relay may take to answer: it leaves nothing running behind.
    private static let answerGrace = 10.0

    /// A node needs its name as well, which only the API takes.
    private static let kinds = SourceKind.allCases.filter { $0 != .node }.map(\.rawValue).joined(separator: ", ")

    static let configuration = CommandConfiguration(
        commandName: "start",
        abstract: "Starts the broadcast; does nothing when it runs."
    )

    @OptionGroup var options: RelayOptions

    @Option(help: "What to capture: \(Self.kinds). Default: the relay's.")
    var source: SourceKind?

    @Option(help: ArgumentHelp("How long the start may take, 0.1 to 120.", valueName: "s"))
    var timeout = 15.0

    @Option(
        help: ArgumentHelp(
            "After how long without a session the broadcast ends by itself, 1 to 86400. Default: never.",
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
        start.source = source.map { SourceRequest(kind: $0) }
        start.ttl = ttl
        try await CommandError.reporting { [start] in
            try await RelayClient.with(options.address) { client in
                let answer = try await client.report(
                    of: Routes.startBroadcast,
                    start,
                    timeout: .milliseconds(Int64((timeout + Self.answerGrace) * 1000))
                )
                print(text(of: answer))
            }
        }
    }

    private func text(of answer: StartedBroadcast) -> String {
        var text = "\(answer.device): live, source \(Summary.text(of: answer.source))"
        if let agent = answer.agent { text += ", agent \(agent.pid)" }
        if answer.alreadyRunning { return text + ", was running already" }
        return text + (answer.timings?.totalMs.map { ", started in \(Summary.decimal($0, places: 0)) ms" } ?? "")
    }
}
