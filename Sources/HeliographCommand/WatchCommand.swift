import ArgumentParser
import CommandSupport
@preconcurrency import Glibc
import HeliographAPI
import HeliographClient
import Media
import NIOCore
import UnixSignals

struct WatchCommand: AsyncParsableCommand {
    /// How long a session that this command starts lives without a viewer, s. It covers a command that is killed and
    /// cannot stop it.
    private static let sessionTTL = 30
    /// The argument that starts a new session instead of naming one.
    static let own = "new"

    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Writes a session to a file, until Ctrl-C.",
        discussion: """
            The file's name says how: .mp4 is a movie, .h264 and .h265 the bare stream, .ogg, .opus and .aac the sound,
            .jpg and .png one picture.
            Without a session, and with new, it starts a session of its own and stops it at the end. A --device alone means
            the session that the device's viewers share, which the relay may start for you.
              heliograph watch door --output door.mp4 --duration 20
              heliograph watch new --device left --output left.mp4
              heliograph watch --output - | ffplay -
            """
    )

    @OptionGroup var relay: RelayAddress
    @OptionGroup var selector: SessionSelector

    @Option(help: ArgumentHelp("What a session of its own encodes: h264 (the default) or h265.", valueName: "codec"))
    var codec: Codec?

    @Option(
        help: ArgumentHelp("What a session of its own encodes with, such as x264. Default: auto.", valueName: "name")
    )
    var encoder: String?

    @Option(name: .shortAndLong, help: ArgumentHelp("Where to write; - for standard output.", valueName: "file"))
    var output: String

    @Option(help: ArgumentHelp("Ends after this time.", valueName: "s"))
    var duration: Double?

    @Flag(help: "Only the sound: Opus in Ogg, or AAC in ADTS. A file's name says it by .ogg, .opus or .aac.")
    var audioOnly = false

    @Option(
        help: ArgumentHelp(
            "The sound of an .mp4 file, or of --audio-only: opus (the default) or aac.",
            valueName: "codec"
        )
    )
    var audioCodec: SoundCodec?

    private var target: WatchOutput? {
        WatchOutput(path: output, isAudioOnly: audioOnly, codec: audioCodec ?? .opus)
    }

    private var isOwn: Bool { selector.session == Self.own || selector.isEmpty }

    func validate() throws {
        if isOwn {
            if let name = selector.name {
                throw ValidationError("'\(Self.own)' and --name \(name) are two sessions: give one of them.")
            }
        } else {
            try selector.check()
            guard codec == nil, encoder == nil else {
                throw ValidationError("--codec and --encoder are for a session of the command's own: give new.")
            }
        }
        guard let target else {
            throw ValidationError(
                "Cannot tell the format from '\(output)': use \(WatchOutput.allowed), or -."
            )
        }
        guard !audioOnly || target.isSound else {
            throw ValidationError("--audio-only is for .ogg, .opus, .aac or -, not for '\(output)'.")
        }
        if let audioCodec {
            switch target {
            case .movie: break
            case .sound(let codec) where codec == audioCodec: break
            case .sound:
                throw ValidationError("--audio-codec \(audioCodec.rawValue) is not the codec of '\(output)'.")
            case .stream, .picture: throw ValidationError("--audio-codec is for .mp4 and --audio-only.")
            }
        }
        if case .picture = target, duration != nil { throw ValidationError("--duration is not for pictures") }
        if let duration, !(duration > 0 && duration <= 1e6) { throw ValidationError("--duration is 0 to 1000000 s") }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        try await CommandError.reporting {
            try await RelayClient.with(relay) { client in
                // From here on, so that no signal ends the command between a session's start and its stop.
                let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
                guard isOwn else {
                    // The relay is asked before the file is opened, so that a wrong session does not destroy an
                    // existing file.
                    let session = try await selector.address(client).report(client)
                    return try await watch(session, client, until: signals)
                }
                let session = try await client.report(of: Routes.startSession, start)
                do {
                    try await watch(session, client, until: signals)
                } catch {
                    _ = try? await client.report(of: Routes.stopSession, at: SessionAddress.id(session.id))
                    throw error
                }
                _ = try await client.report(of: Routes.stopSession, at: SessionAddress.id(session.id))
            }
        }
    }

    /// The start of the command's own session.
    private var start: SessionStart {
        var start = SessionStart()
        start.device = selector.device
        start.session.label = "heliograph watch"
        start.session.codec = codec ?? target?.codec ?? .h264
        start.session.encoder = encoder ?? SessionRequest.automaticEncoder
        start.session.ttl = Self.sessionTTL
        return start
    }

    /// Records the session in the output's format.
    private func watch(_ session: SessionReport, _ client: RelayClient, until signals: UnixSignalsSequence) async throws
    {
        let codec = try session.knownCodec()
        switch target {
        case .stream(let wanted):
            guard wanted == nil || wanted == codec else {
                throw CommandError.failed(
                    "session \(session.id) is \(codec.rawValue): name the file .\(codec.rawValue)"
                )
            }
            var query = StreamQuery()
            query.audio = .off
            try await record(session, query, client, by: StreamRecording(path: output), until: signals)
        case .movie:
            let recording = try MovieRecording(path: output, codec: codec, fps: session.fps, duration: duration)
            var query = StreamQuery()
            // Begins with a current picture.
            query.join = .live
            if audioCodec == .aac { query.audio = .aac }
            try await record(session, query, client, by: recording, until: signals)
        case .sound(let codec):
            let recording = try SoundRecording(path: output, duration: duration)
            try await record(by: recording, until: signals) {
                switch codec {
                case .opus: try await client.sound(of: session.id) { try recording.append($0) }
                case .aac: try await client.aac(of: session.id) { try recording.append($0) }
                }
            }
        case .picture(let format):
            // The command's own session has no picture yet. If none arrives, the snapshot's error says why.
            if isOwn {
                var query = ScreenWait()
                (query.until, query.for, query.timeout) = (.static, 0, 5)
                _ = try? await client.report(of: Routes.waitForScreen, query, at: SessionAddress.id(session.id))
            }
            try await Snapshot(session: .id(session.id), format: format, isFresh: true).write(to: output, client)
        case nil:
            break
        }
    }

    /// Records a stream of MP4 fragments, which show where each picture ends.
    private func record(
        _ session: SessionReport,
        _ query: StreamQuery,
        _ client: RelayClient,
        by recording: some PictureRecording,
        until signals: UnixSignalsSequence
    ) async throws {
        try await record(by: recording, until: signals) {
            try await client.units(of: session.id, query) { try recording.append($0, sound: $1) }
        }
    }

    /// Records until `receive` returns, the time is up, or a signal arrives.
    private func record(
        by recording: some Recording,
        until signals: UnixSignalsSequence,
        receive: @escaping @Sendable () async throws -> Void
    ) async throws {
        let duration = duration
        let outcome: Result<Void, any Error>
        do {
            try await withThrowingTaskGroup { group in
                group.addTask(operation: receive)
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
        // The recording so far is kept in any case.
        let end = Result { try recording.finish() }
        fputs("\(recording.summary)\n", stderr)
        try outcome.get()
        try end.get()
    }
}
