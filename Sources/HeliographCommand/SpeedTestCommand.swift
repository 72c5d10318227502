import ArgumentParser
import CommandSupport
import HeliographAPI
import HeliographClient

struct SpeedTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "speedtest",
        abstract: "Measures how fast bytes come from the relay, and recommends a bitrate.",
        discussion: """
            With a session, it is watched meanwhile, and what its pictures take counts, too:
              heliograph speedtest
              heliograph speedtest door
              heliograph speedtest door --apply
            The recommended bitrate is 70 % of what came. --apply lowers the session's bitrate to it, but never raises it:
            `heliograph session set door --bitrate 6000000` does. Other viewers on the same way feel the test.
            """
    )

    @OptionGroup var relay: RelayAddress
    @OptionGroup var selector: SessionSelector

    @Option(name: .customLong("for"), help: ArgumentHelp("How long, 0.5 to 10 s.", valueName: "seconds"))
    var time = 2.0

    @Flag(help: "Gives the session the recommended bitrate if that is less than it has.")
    var apply = false

    @OptionGroup var format: AnswerFormat

    func validate() throws {
        guard 0.5...10 ~= time else { throw ValidationError("--for is 0.5 to 10 seconds.") }
        if !selector.isEmpty { try selector.check() }
        if apply, selector.isEmpty { throw ValidationError("--apply needs a session.") }
    }

    func run() async throws {
        try await CommandError.reporting {
            try await RelayClient.with(relay) { client in
                guard !selector.isEmpty else {
                    return try show(SpeedReport(try await speed(client)))
                }
                let session = try await selector.address(client)
                var report = try await measure(client, beside: client.session(at: session).watch())
                if apply { report.applied = try await lower(session, to: report.recommended, client) }
                try show(report)
            }
        }
    }

    /// Lowers a session's bitrate.
    ///
    /// - Returns: The session's bitrate from now on.
    private func lower(_ session: SessionAddress, to bitrate: Int, _ client: RelayClient) async throws -> Int {
        let present = try await client.report(of: Routes.getSession, at: session).bitrate
        guard bitrate < present else { return present }
        var change = SessionChange()
        change.bitrate = bitrate
        return try await client.report(of: Routes.changeSession, change, at: session).bitrate
    }

    /// Measures while a session is watched.
    private func measure(_ client: RelayClient, beside live: LiveSession) async throws -> SpeedReport {
        defer { live.close() }
        let pictures = Task { for try await _ in live.video {} }
        defer { pictures.cancel() }
        let (before, begin) = (live.statistics, ContinuousClock.now)
        let speed = try await speed(client)
        let (after, seconds) = (live.statistics, (ContinuousClock.now - begin) / .seconds(1))
        return SpeedReport(
            speed,
            beside: .init(
                bitrate: Int(Double(after.bytes - before.bytes) * 8 / seconds),
                pictures: after.pictures - before.pictures,
                dropped: after.dropped - before.dropped
            )
        )
    }

    private func speed(_ client: RelayClient) async throws -> Speed {
        let speed = try await client.measureSpeed(for: .seconds(time))
        guard speed.bytes > 0 else {
            throw CommandError.failed("too little came from the relay to measure it: give more time by --for")
        }
        return speed
    }

    private func show(_ report: SpeedReport) throws { try format.show(report) { $0.text } }
}

/// What a speed test has found.
struct SpeedReport: Encodable {
    /// What came of the session that was watched meanwhile.
    struct Beside: Encodable {
        /// Bits per second.
        var bitrate: Int
        /// Pictures, and those that were left out.
        var pictures: Int
        var dropped: Int
    }

    /// How much of what came the recommended bitrate is.
    private static let share = 0.7

    /// Bits per second of the test, without ``session``.
    let bitrate: Int
    let bytes: Int
    let seconds: Double
    let session: Beside?
    /// The bitrate that leaves room, in bit/s.
    let recommended: Int
    /// The session's bitrate from now on, in bit/s; `nil` if it was not to be changed.
    var applied: Int?

    init(_ speed: Speed, beside session: Beside? = nil) {
        bitrate = Int(speed.bitrate)
        bytes = speed.bytes
        seconds = speed.duration / .seconds(1)
        self.session = session
        let whole = speed.bitrate + Double(session?.bitrate ?? 0)
        let allowed = SessionRequest.bitrates
        recommended = min(max(Int(whole * Self.share), allowed.lowerBound), allowed.upperBound)
    }

    var text: String {
        var lines = ["\(Self.megabits(bitrate)) Mbit/s come from the relay, in \(Figure.text(seconds)) s"]
        if let session {
            let loss = session.dropped == 0 ? "none left out" : "\(session.dropped) left out"
            lines.append(
                "\(Self.megabits(session.bitrate)) Mbit/s of the session meanwhile: \(session.pictures) pictures, \(loss)"
            )
        }
        lines.append("recommended bitrate: \(recommended) bit/s")
        if let applied { lines.append("the session has \(applied) bit/s now") }
        return lines.joined(separator: "\n")
    }

    private static func megabits(_ bitrate: Int) -> String { Figure.text(Double(bitrate) / 1e6) }
}
