import ArgumentParser
import CommandSupport
@preconcurrency import Glibc
import HeliographAPI
import HeliographClient
import UnixSignals

struct StatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Watches a session, and shows how it arrives here, a line a second.",
        discussion: """
            Pictures and bits a second, repeats, what was left out, and the time from a picture's capture until it is here:
            its median, its 95th and its 99th percentile of the last 20 s. The clocks of the two machines are compared first.
              heliograph stats door
              heliograph stats door --json --for 60 >door.jsonl
            """
    )

    @OptionGroup var relay: RelayAddress
    @OptionGroup var selector: SessionSelector

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("Ends after this time. Default: at Ctrl-C.", valueName: "seconds")
    )
    var time: Int?

    @Flag(help: "Prints JSON, an object a line.")
    var json = false

    func validate() throws {
        try selector.check()
        if let time, time < 1 { throw ValidationError("--for is 1 second or more.") }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        setlinebuf(stdout)
        try await CommandError.reporting {
            try await RelayClient.with(relay) { client in
                let session = try await selector.address(client)
                let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
                let live = try await client.session(at: session).watch()
                defer { live.close() }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { for await _ in signals { return } }
                    group.addTask { for try await _ in live.video {} }
                    group.addTask { try await show(live) }
                    defer { group.cancelAll() }
                    try await group.next()
                }
            }
        }
    }

    /// Shows a line a second.
    private func show(_ live: LiveSession) async throws {
        let clock = ContinuousClock()
        var (next, count) = (clock.now, 0)
        while time.map({ count < $0 }) ?? true {
            next += .seconds(1)
            count += 1
            try await Task.sleep(until: next, clock: clock)
            let report = ArrivalReport(live.statistics)
            let line = json ? try JSONValue(encoding: report).text : report.text
            guard puts(line) >= 0 else { return }
        }
    }
}
