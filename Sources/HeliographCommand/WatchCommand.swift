import ArgumentParser
@preconcurrency import Glibc
import HeliographAPI
import Media
import NIOCore
import UnixSignals

struct WatchCommand: AsyncParsableCommand {
    /// After how long without a viewer a session of this command's own ends by itself, s: a killed command stops none.
    private static let sessionTTL = 30

    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Writes a session to a file, until Ctrl-C.",
        discussion: """
            The file's name says how: .mp4 is a movie, .h264 and .h265 the bare stream, .jpg and .png one picture.
            Without an ID it starts a session of its own and stops it at the end. Play a file with `ffplay screen.mp4`,
            or the stream itself with `heliograph watch --output - | ffplay -`.
            """
    )

    @OptionGroup var options: RelayOptions

    @Argument(help: "The session's id, or new.")
    var id = "new"

    @Option(help: ArgumentHelp("What a session of its own encodes: h264 (the default) or h265.", valueName: "codec"))
    var codec: Codec?

    @Option(
        help: ArgumentHelp("What a session of its own encodes with, such as x264. Default: auto.", valueName: "name")
    )
    var encoder: String?

    @Option(name: .shortAndLong, help: ArgumentHelp("Where to write; - for standard output.", valueName: "file"))
    var output: String

    @Option(help: ArgumentHelp("Ends after this time; a movie is that long.", valueName: "s"))
    var duration: Double?

    func validate() throws {
        guard id == "new" || UInt32(id) != nil else {
            throw ValidationError("\(id) is no session's id: give a number or new")
        }
        guard id == "new" || codec == nil && encoder == nil else {
            throw ValidationError("--codec and --encoder are for a session of its own, not for session \(id)")
        }
        guard let target = WatchOutput(path: output) else {
            throw ValidationError(
                "\(output) says not what to write: give it a name that ends in \(WatchOutput.allowed), or -"
            )
        }
        if case .picture = target, duration != nil { throw ValidationError("--duration is not for pictures") }
        if let duration, !(duration > 0 && duration <= 1e6) { throw ValidationError("--duration is 0 to 1000000 s") }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        // From here on, so that no signal ends the command between a session's start and its stop.
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        try await CommandError.reporting {
            try await RelayClient.with(options.address) { client in
                if let id = UInt32(id) {
                    // Asked first, so that a wrong id does not cost an old file.
                    let session = try await client.report(of: Routes.getSession, session: id)
                    return try await watch(session, client, until: signals)
                }
                let session = try await client.report(of: Routes.startSession, start)
                do {
                    try await watch(session, client, until: signals)
                } catch {
                    _ = try? await client.report(of: Routes.stopSession, session: session.id)
                    throw error
                }
                _ = try await client.report(of: Routes.stopSession, session: session.id)
            }
        }
    }

    /// A session of the command's own.
    private var start: SessionStart {
        var start = SessionStart()
        start.device = options.device
        start.session.label = "heliograph watch"
        start.session.codec = codec ?? WatchOutput(path: output)?.codec ?? .h264
        start.session.encoder = encoder ?? SessionRequest.automaticEncoder
        start.session.ttl = Self.sessionTTL
        return start
    }

    private func watch(_ session: SessionReport, _ client: RelayClient, until signals: UnixSignalsSequence) async throws
    {
        guard let codec = Codec(rawValue: session.codec) else {
            throw CommandError.failed(
                "session \(session.id) has a codec that this release does not know: \(session.codec)"
            )
        }
        switch WatchOutput(path: output) {
        case .stream(let wanted):
            guard wanted == nil || wanted == codec else {
                throw CommandError.failed(
                    "session \(session.id) is \(codec.rawValue): name the file .\(codec.rawValue)"
                )
            }
            try await record(session.id, StreamQuery(), client, by: StreamRecording(path: output), until: signals)
        case .movie:
            let recording = try MovieRecording(path: output, codec: codec, fps: session.fps, duration: duration)
            var query = StreamQuery()
            // No picture of the past.
            query.join = .live
            try await record(session.id, query, client, by: recording, until: signals)
        case .picture(let format):
            // A session of its own has none yet; where none comes the picture's own refusal says why.
            if id == "new" {
                var query = WaitQuery()
                query.until = .static
                (query.for, query.timeout) = (0, 5)
                _ = try? await client.report(of: Routes.waitForScreen, query, session: session.id)
            }
            try await Snapshot(session: session.id, format: format, isFresh: true).write(to: output, client)
        case nil:
            break
        }
    }

    /// Records a stream of MP4 fragments, which tell where a picture ends, until it ends, time is up, the reader of our output leaves, or a signal says so.
    private func record(
        _ session: UInt32,
        _ query: StreamQuery,
        _ client: RelayClient,
        by recording: some Recording,
        until signals: UnixSignalsSequence
    ) async throws {
        let duration = duration
        let outcome: Result<Void, any Error>
        do {
            try await withThrowingTaskGroup { group in
                group.addTask { try await client.pictures(of: session, query) { try recording.append($0) } }
                group.addTask {
                    for await _ in signals { return }
                }
                if let duration {
                    group.addTask {
                        try await Task.sleep(for: .seconds(duration))
                        while let rest = recording.remaining(of: .seconds(duration)) { try await Task.sleep(for: rest) }
                    }
                }
                defer { group.cancelAll() }
                try await group.next()
            }
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        // What came until then is kept in any case.
        let end = Result { try recording.finish() }
        fputs("\(recording.summary)\n", stderr)
        try outcome.get()
        try end.get()
    }
}
