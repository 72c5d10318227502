import ArgumentParser
import Glibc
import Logging
import Relay
import ServiceLifecycle
import UnixSignals

/// Reloads the configuration at every SIGHUP.
struct Reloading: Service {
    private static let terminal = "/dev/tty"

    let options: RelayOptions
    let log: LogWriter
    let logger: Logger
    let change: AsyncStream<RelayConfiguration>.Continuation

    /// Runs until the signal means that the relay's terminal has closed. Its return ends the relay.
    func run() async throws {
        let hadTerminal = Self.hasTerminal
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            if hadTerminal, !Self.hasTerminal { return }
            reload()
        }
    }

    private func reload() {
        do {
            let configuration = try options.configuration()
            log.level = configuration.logLevel
            change.yield(configuration)
        } catch let error as ConfigurationError {
            for line in error.lines { refuse(line) }
        } catch {
            refuse("\(error)")
        }
    }

    private func refuse(_ reason: String) {
        logger.error("the configuration stays as it was: \(reason)")
    }

    private static var hasTerminal: Bool {
        let descriptor = open(terminal, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }
}
