import ArgumentParser
@preconcurrency import Glibc
import NIOCore
import UnixSignals

struct WatchCommand: AsyncParsableCommand {
    private struct SessionBody: Encodable {
        let device: String?
        let label: String
        let codec: String?
        let encoder: String?
        let ttl: Int
    }

    /// After how long without a viewer a session of this command's own ends by itself, s: a killed command stops none.
    private static let sessionTTL = 30

    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Writes a session's H.264 or H.265 stream to a file, until Ctrl-C.",
        discussion: """
            Without an ID it starts a session of its own and stops it at the end. Play a file with `ffplay screen.h264`,
            or the stream itself with `heliograph watch --output - | ffplay -`.
            """
    )

    @OptionGroup var options: RelayOptions

    @Argument(help: "The session's id, or new.")
    var id = "new"

    @Option(help: ArgumentHelp("What a session of its own encodes: h264 (the default) or h265.", valueName: "codec"))
    var codec: String?

    @Option(
        help: ArgumentHelp("What a session of its own encodes with, such as x264. Default: auto.", valueName: "name")
    )
    var encoder: String?

    @Option(name: .shortAndLong, help: ArgumentHelp("Where to write; - for standard output.", valueName: "file"))
    var output: String

    @Option(help: ArgumentHelp("Ends after this time.", valueName: "s"))
    var duration: Double?

    func validate() throws {
        guard id == "new" || UInt32(id) != nil else {
            throw ValidationError("\(id) is no session's id: give a number or new")
        }
        guard id == "new" || codec == nil && encoder == nil else {
            throw ValidationError("--codec and --encoder are for a session of its own, not for session \(id)")
        }
        if let duration, !(duration > 0 && duration <= 1e6) { throw ValidationError("--duration is 0 to 1000000 s") }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        // From here on, so that no signal ends the command between a session's start and its stop.
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        try await CommandError.reporting {
            try await RelayClient.with(options.url) { client in
                guard id == "new" else {
                    // Asked first, so that a wrong id does not cost an old file.
                    let bytes = try await client.get("/screencapture/\(id)")
                    return try await watch(try client.decode(SessionAnswer.self, from: bytes), client, until: signals)
                }
                let body = SessionBody(
                    device: options.device,
                    label: "heliograph watch",
                    codec: codec,
                    encoder: encoder,
                    ttl: Self.sessionTTL
                )
                let bytes = try await client.post(
                    "/screencapture/start",
                    body: body,
                    timeout: RelayClient.answerTime
                )
                let session = try client.decode(SessionAnswer.self, from: bytes)
                do {
                    try await watch(session, client, until: signals)
                } catch {
                    _ = try? await client.post("/screencapture/\(session.id)/stop")
                    throw error
                }
                try await client.post("/screencapture/\(session.id)/stop")
            }
        }
    }

    /// Copies until the stream ends, time is up, the reader of our output leaves, or a signal says so.
    private func watch(_ session: SessionAnswer, _ client: RelayClient, until signals: UnixSignalsSequence) async throws
    {
        let recording = try Recording(path: output)
        let duration = duration
        try await withThrowingTaskGroup { group in
            group.addTask {
                let path = "/screencapture/\(session.id)/stream.\(session.codec)"
                try await client.stream(path) { try recording.append($0) }
            }
            group.addTask {
                for await _ in signals { return }
            }
            if let duration {
                group.addTask { try await Task.sleep(for: .seconds(duration)) }
            }
            try await group.next()
            group.cancelAll()
        }
        fputs("\(recording.summary)\n", stderr)
    }
}
