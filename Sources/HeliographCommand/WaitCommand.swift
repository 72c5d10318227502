import ArgumentParser
import HeliographAPI
import NIOCore

struct WaitCommand: AsyncParsableCommand {
    /// How much longer than the wait the relay may take to answer.
    private static let answerGrace = 10.0

    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Waits until a session's screen changes or is static.",
        discussion: """
            Exit code 75 says that it did not within the time-out. A screen may be static already; changes count from now on.
              heliograph wait 1 --until static --for 2 && heliograph snapshot 1 --fresh --output screen.png
            With --after changes count behind a picture, such as the one that an earlier wait named in its --json.
            """
    )

    @OptionGroup var address: RelayAddress

    @Argument(help: "The session's id.")
    var id: UInt32

    @Option(help: "What to wait for: changed or static.")
    var until: WaitQuery.Goal

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("How long the screen must be unchanged, 0 to 600.", valueName: "s")
    )
    var staticTime: Double?

    @Option(help: ArgumentHelp("The PTS behind which changes count. Default: they count from now on.", valueName: "µs"))
    var after: Int64?

    @Option(help: ArgumentHelp("How long to wait, 0 to 600.", valueName: "s"))
    var timeout = 30.0

    @Flag(help: "Prints the relay's answer as it is.")
    var json = false

    func validate() throws {
        guard (0...600).contains(timeout) else { throw ValidationError("--timeout is 0 to 600 s") }
        if let after {
            guard until == .changed else { throw ValidationError("--after is for --until changed") }
            guard after >= 0 else { throw ValidationError("--after is a PTS, not negative") }
        }
        guard let staticTime else { return }
        guard until == .static else { throw ValidationError("--for is for --until static") }
        guard (0...600).contains(staticTime) else { throw ValidationError("--for is 0 to 600 s") }
    }

    func run() async throws {
        var query = WaitQuery()
        query.until = until
        query.for = staticTime
        query.after = after
        query.timeout = timeout
        let limit = TimeAmount.milliseconds(Int64((timeout + Self.answerGrace) * 1000))
        try await CommandError.reporting { [query] in
            try await RelayClient.with(address) { client in
                let call = Routes.waitForScreen
                if json {
                    let answer = try await client.answer(to: call, query, session: id, timeout: limit)
                    return print(String(buffer: answer), terminator: "")
                }
                print(text(of: try await client.report(of: call, query, session: id, timeout: limit)))
            }
        }
    }

    private func text(of answer: ScreenEvent) -> String {
        let waited = "waited \(Summary.decimal(answer.waitedMs / 1000, places: 3)) s"
        let pts = "PTS \(Summary.decimal(Double(answer.pts) / 1e6, places: 3)) s"
        switch until {
        case .changed: return "session \(answer.id): changed at \(pts), \(waited)"
        case .static:
            let stood = Summary.decimal(answer.staticMs / 1000, places: 3)
            return "session \(answer.id): static for \(stood) s, since \(pts), \(waited)"
        }
    }
}
