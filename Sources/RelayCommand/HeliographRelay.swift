import ArgumentParser
@preconcurrency import Glibc
import Logging
import Relay
import ServiceLifecycle
import UnixSignals
import Wire

@main
struct HeliographRelay: AsyncParsableCommand {
    /// How long a shutdown in good order may take before what is left is cancelled.
    private static let shutdownTime = Duration.seconds(7)

    static let configuration = CommandConfiguration(
        commandName: "heliograph-relay",
        abstract: "Relays devices' screens from their capture agents to any number of viewers.",
        discussion: """
            Everything is driven over HTTP (docs/api.md); begin with
              curl -X POST http://127.0.0.1:8420/screencapture/broadcast/start
            or with `heliograph start`. SIGTERM, SIGINT and SIGHUP end viewers' streams \
            and the agent in good order, within 8 s. Under nohup SIGHUP does nothing.

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
        let configuration = try readConfiguration()
        guard !options.checkConfig else { return print("ok") }
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = configuration.logLevel
            return handler
        }
        do {
            try await serve(configuration)
        } catch let error as RelayStartError {
            fputs("heliograph-relay: \(error)\n", stderr)
            throw ExitCode(error.exitCode)
        }
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

    /// Takes as many open files as the system gives: each viewer is one, and the usual 1024 are fewer than a few devices' viewers.
    private static func allowManyFiles() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Whether the relay was started to outlive its terminal, as nohup does it.
    private static var ignoresHangup: Bool {
        var action = sigaction()
        guard sigaction(SIGHUP, nil, &action) == 0 else { return false }
        // SIG_IGN is the pointer 1, which cannot be compared as a function.
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    private func serve(_ configuration: RelayConfiguration) async throws {
        let logger = Logger(label: "heliograph-relay")
        let printsPorts = configuration.printsPorts
        let relay = RelayApplication(configuration: configuration, logger: logger) { ports in
            guard printsPorts else { return }
            print(ports.json)
            fflush(stdout)
        }
        var group = ServiceGroupConfiguration(
            services: [relay],
            gracefulShutdownSignals: [.sigterm, .sigint] + (Self.ignoresHangup ? [] : [.sighup]),
            logger: logger
        )
        group.maximumGracefulShutdownDuration = Self.shutdownTime
        try await ServiceGroup(configuration: group).run()
    }
}

extension RelayStartError {
    /// As in sysexits.h: 69 for an unavailable port, 64 for wrong arguments.
    fileprivate var exitCode: Int32 {
        switch self {
        case .portInUse, .cannotBind: EX_UNAVAILABLE
        case .notLoopback, .tokenUnreadable, .tokenTooShort: EX_USAGE
        case .portsFileUnwritable: 1
        }
    }
}
