import ArgumentParser
import CommandSupport
@preconcurrency import Glibc
import HeliographAPI
import HeliographClient
import Media
import Subprocess
import SystemPackage
import UnixSignals

struct RunCommand: AsyncParsableCommand {
    /// The time between two calls while the relay or the session is not there.
    private static let pause = Duration.milliseconds(200)
    /// What a shell returns for a program that it does not find (POSIX, Shell Command Language, 2.8.2).
    private static let notFound: Int32 = 127

    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Runs a program, and writes a movie of a session meanwhile.",
        discussion: """
            The program starts when the relay has the session and a picture of it has arrived. The exit status is the
            program's, whatever becomes of the movie then. A --device alone means the session that the device's viewers
            share, which the relay may start for you.
              heliograph run test --output test.mp4 --last last.png -- ./run-the-test
            """
    )

    @OptionGroup var relay: RelayAddress
    @OptionGroup var selector: SessionSelector

    @Option(name: .shortAndLong, help: ArgumentHelp("The movie: a name that ends in .mp4.", valueName: "file"))
    var output: String

    @Option(
        help: ArgumentHelp("Writes the screen at the program's end, too: .png or .jpg.", valueName: "file"),
        completion: .file(extensions: ["jpg", "jpeg", "png"])
    )
    var last: String?

    @Option(help: ArgumentHelp("How long to wait for the first picture, 0 to 3600.", valueName: "s"))
    var wait = 60.0

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("The program, and its arguments.", valueName: "program"),
        completion: .shellCommand("compgen -c")
    )
    var words: [String] = []

    func validate() throws {
        try selector.check()
        guard case .movie = WatchOutput(path: output, isAudioOnly: false, codec: .opus) else {
            throw ValidationError("'\(output)' is not a movie: use .mp4.")
        }
        if let last, Snapshot.Format(path: last) == nil {
            throw ValidationError("Cannot tell the format from '\(last)': use .jpg or .png.")
        }
        guard (0...3600).contains(wait) else { throw ValidationError("--wait is 0 to 3600 s") }
        guard !words.isEmpty else { throw ValidationError("Give the program after --: heliograph run … -- PROGRAM") }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        var status: Int32 = 0
        try await CommandError.reporting {
            try await RelayClient.with(relay) { client in status = try await runRecorded(client) }
        }
        guard status == 0 else { throw ExitCode(status) }
    }

    /// Runs the program, and writes the movie and the last picture.
    ///
    /// - Returns: The program's exit status.
    /// - Throws: Why the program was not started.
    private func runRecorded(_ client: RelayClient) async throws -> Int32 {
        let deadline = ContinuousClock.now + .seconds(wait)
        let session = try await session(client, until: deadline)
        let movie = try MovieRecording(path: output, codec: try session.knownCodec(), fps: session.fps, duration: nil)
        let (begun, begin) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let receiving = Task {
            defer { begin.finish() }
            var query = StreamQuery()
            query.join = .live
            try await client.units(of: session.id, query) { unit, sound in
                let takesMore = try movie.append(unit, sound: sound)
                if movie.hasBegun { begin.yield() }
                return takesMore
            }
        }
        let patience = Task {
            try await Task.sleep(until: deadline)
            begin.finish()
        }
        let hasBegun = await begun.first { true } != nil
        patience.cancel()
        guard hasBegun else {
            receiving.cancel()
            let outcome = await receiving.result
            // It has nothing to keep, and removes the file.
            try? movie.finish()
            if case .failure(let error as RelayError) = outcome, error.kind != .cancelled { throw error }
            throw CommandError.failed(
                "no picture of session \(session.id) has come: `heliograph status --device \(session.device)` says why"
            )
        }
        let status = await runProgram()
        if let last {
            await report {
                let format = Snapshot.Format(path: last) ?? .png
                try await Snapshot(session: .id(session.id), format: format, isFresh: true).write(to: last, client)
            }
        }
        receiving.cancel()
        await report { try await receiving.value }
        await report { try movie.finish() }
        fputs("\(movie.summary)\n", stderr)
        return status
    }

    /// Returns the session once the relay has it.
    private func session(_ client: RelayClient, until deadline: ContinuousClock.Instant) async throws -> SessionReport {
        while true {
            do {
                return try await selector.address(client).report(client)
            } catch let error as RelayError where error.isLossOfRelay || error.problem == .unknownSession {
                guard ContinuousClock.now < deadline else { throw error }
            }
            try await Task.sleep(for: Self.pause)
        }
    }

    /// Says what went wrong beside the program, whose status counts.
    private func report(_ body: () async throws -> Void) async {
        do {
            try await body()
        } catch is CancellationError {
        } catch let error as RelayError where error.kind == .cancelled {
        } catch {
            fputs("heliograph: \(CommandError(describing: error)?.description ?? "\(error)")\n", stderr)
        }
    }

    /// Runs the program with this command's standard streams, and returns its exit status as a shell does.
    private func runProgram() async -> Int32 {
        guard let name = words.first else { return 0 }
        // Ctrl-C reaches the program by the terminal.
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        do {
            let outcome = try await Subprocess.run(
                name.contains("/") ? .path(.init(name)) : .name(name),
                arguments: Arguments(Array(words.dropFirst())),
                input: .fileDescriptor(.standardInput, closeAfterSpawningProcess: false),
                output: .currentStandardOutput,
                error: .currentStandardError
            ) { program in
                Task { for await signal in signals where signal != .sigint { try? program.send(signal: .terminate) } }
            }
            outcome.closureResult.cancel()
            switch outcome.terminationStatus {
            case .exited(let status): return status
            case .signaled(let signal): return 128 + signal
            }
        } catch {
            fputs("heliograph: cannot run \(name): \(error)\n", stderr)
            return Self.notFound
        }
    }
}
