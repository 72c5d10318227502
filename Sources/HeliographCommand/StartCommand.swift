import ArgumentParser
import NIOCore
import Wire

struct StartCommand: AsyncParsableCommand {
    /// How much longer than the broadcast's own timeout the relay may take to answer: it leaves nothing running behind.
    private static let answerGrace = 10.0

    /// A node needs its name as well, which only the API takes.
    private static let kinds = SourceKind.allCases.filter { $0 != .node }.map(\.rawValue).joined(separator: ", ")

    private struct Body: Encodable {
        struct Source: Encodable {
            let kind: String
        }

        let device: String?
        let timeout: Double
        let source: Source?
        let ttl: Int?
    }

    static let configuration = CommandConfiguration(
        commandName: "start",
        abstract: "Starts the broadcast; does nothing when it runs."
    )

    @OptionGroup var options: RelayOptions

    @Option(help: "What to capture: \(Self.kinds). Default: the relay's.")
    var source: String?

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
        let body = Body(device: options.device, timeout: timeout, source: source.map(Body.Source.init), ttl: ttl)
        try await CommandError.reporting {
            try await RelayClient.with(options.address) { client in
                let bytes = try await client.post(
                    "/screencapture/broadcast/start",
                    body: body,
                    timeout: .milliseconds(Int64((timeout + Self.answerGrace) * 1000))
                )
                print(text(of: try client.decode(StartAnswer.self, from: bytes)))
            }
        }
    }

    private func text(of answer: StartAnswer) -> String {
        var text = "\(answer.device): live, source \(Summary.text(of: answer.source))"
        if let agent = answer.agent { text += ", agent \(agent.pid)" }
        if answer.alreadyRunning { return text + ", was running already" }
        return text + (answer.timings.map { ", started in \(Summary.decimal($0.totalMs, places: 0)) ms" } ?? "")
    }
}
