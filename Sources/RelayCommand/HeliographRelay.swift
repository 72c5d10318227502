import ArgumentParser
@preconcurrency import Glibc
import Logging
import Program
import Relay
import ServiceLifecycle
import UnixSignals
import Wire

@main
struct HeliographRelay: AsyncParsableCommand {
    /// How long a clean shutdown may take before the rest is cancelled.
    private static let shutdownTime = Duration.seconds(19)

    static let configuration = CommandConfiguration(
        commandName: "heliograph-relay",
        abstract: "Relays devices' screens from their capture agents to any number of viewers.",
        discussion: """
            Everything is driven over HTTP (docs/reference/api.md); begin with
              curl -X POST http://127.0.0.1:8420/screencapture/broadcast/start
            or with `heliograph start`. SIGTERM and SIGINT end viewers' streams, \
            launched applications and agents, within 20 s. SIGHUP reads the configuration file again and takes over \
            what can change while the relay runs; without a file, and when the relay's terminal closes, it does what SIGTERM does. \
            Under nohup it does nothing.

            Each flag has a variable: HELIOGRAPH_RELAY_MAX_SESSIONS is --max-sessions. A flag counts more than its \
            variable, and that more than the file.

            HELIOGRAPH_LINK_TOKEN in the environment is the secret that agents show, at \
            least 16 characters; it is for agents started by hand or by systemd. \
            Without it and --link-token-file each run makes its own.

            Exit codes: 0 after a shutdown, 64 wrong arguments, 69 a port cannot be \
            had, 1 other errors.
            """,
        version: Release.current
    )

    @OptionGroup var options: RelayOptions

    func run() async throws {
        CrashSignals.endProcess()
        signal(SIGPIPE, SIG_IGN)
        Self.allowManyFiles()
        // A file at its size limit (RLIMIT_FSIZE) is an error like a full disk. It must not end the relay.
        signal(SIGXFSZ, SIG_IGN)
        let configuration = try readConfiguration()
        do {
            guard !options.checkConfig else {
                try configuration.check()
                return print("ok")
            }
            try await serve(configuration)
        } catch let error as RelayStartError {
            fputs("\(configuration.statement(of: error))\n", stderr)
            throw ExitCode(error.exitCode)
        }
    }

    private func serve(_ configuration: RelayConfiguration) async throws {
        let log = LogWriter(format: configuration.logFormat, level: configuration.logLevel) { line in
            // Written with one call, because stdio locks its streams per call.
            _ = fputs(line, stderr)
        }
        LoggingSystem.bootstrap { RelayLogHandler(label: $0, writer: log) }
        try await serve(configuration, log: log)
    }

    private func readConfiguration() throws -> RelayConfiguration {
        do {
            return try options.configuration()
        } catch let error as RelayStartError {
            fputs("heliograph-relay: \(error)\n", stderr)
            throw ExitCode(error.exitCode)
        } catch let error as ConfigurationError {
            fputs("\(error)\n", stderr)
            throw ExitCode(EX_USAGE)
        }
    }

    /// Raises the limit on open files to the system's maximum. Each viewer needs one, and the usual 1024 are fewer than
    /// a few devices' viewers.
    private static func allowManyFiles() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Whether the relay was started to outlive its terminal, as nohup does.
    private static var ignoresHangup: Bool {
        var action = sigaction()
        guard sigaction(SIGHUP, nil, &action) == 0 else { return false }
        // SIG_IGN is the pointer 1, which cannot be compared as a function.
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    private func serve(_ configuration: RelayConfiguration, log: LogWriter) async throws {
        let logger = Logger(label: "heliograph-relay")
        let printsPorts = configuration.printsPorts
        let (changes, change) = AsyncStream<RelayConfiguration>.makeStream()
        let relay = RelayApplication(configuration: configuration, logger: logger, changes: changes) { ports in
            guard printsPorts else { return }
            print(ports.json)
            fflush(stdout)
        }
        // The relay ends by itself after a drain.
        var services = [
            ServiceGroupConfiguration.ServiceConfiguration(
                service: relay,
                successTerminationBehavior: .gracefullyShutdownGroup
            )
        ]
        var endSignals = [UnixSignal.sigterm, .sigint]
        if !Self.ignoresHangup {
            if options.file == nil {
                endSignals.append(.sighup)
            } else {
                // A signal that arrives before the handler is ready is ignored.
                signal(SIGHUP, SIG_IGN)
                let reloading = Reloading(options: options, log: log, logger: logger, change: change)
                services.append(.init(service: reloading, successTerminationBehavior: .gracefullyShutdownGroup))
            }
        }
        var group = ServiceGroupConfiguration(
            services: services,
            gracefulShutdownSignals: endSignals,
            logger: logger
        )
        group.maximumGracefulShutdownDuration = Self.shutdownTime
        try await ServiceGroup(configuration: group).run()
    }
}

extension RelayStartError {
    /// The exit status from sysexits.h: 69 for an unavailable port, 64 for wrong arguments.
    fileprivate var exitCode: Int32 {
        switch self {
        case .portInUse, .cannotBind: EX_UNAVAILABLE
        case .notLoopback, .keys, .open, .tunnelWithoutKeys, .pairingWithoutKeysFile, .certificate,
            .certificateUnreadable, .noStateDirectory, .tokenUnreadable, .tokenTooShort, .webhookSecret,
            .webhookDevice, .standingSessions:
            EX_USAGE
        case .portsFileUnwritable: 1
        }
    }
}
