import Logging
import NIOCore
import Synchronization

/// How often the relay's listeners could not accept a connection and paused.
final class AcceptPauses: Sendable {
    /// What is listened for.
    enum Listener: String, Sendable, CaseIterable {
        case http, agents, sessions
    }

    private struct State {
        var counts: [Listener: UInt64] = [:]
        var log = LogBudget()
    }

    private let state = Mutex(State())
    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    /// Since the relay started.
    func count(of listener: Listener) -> UInt64 { state.withLock { $0.counts[listener, default: 0] } }

    func count(_ listener: Listener) { state.withLock { $0.counts[listener, default: 0] += 1 } }

    /// The first pause since a connection was accepted.
    func begin(_ listener: Listener, because reason: String) {
        state.withLock {
            $0.log.log(.warning, to: logger, "connections have to wait (\(listener.rawValue)): \(reason)")
        }
    }

    /// A connection was accepted after pauses.
    func end(_ listener: Listener) {
        state.withLock { $0.log.log(.info, to: logger, "connections are accepted again (\(listener.rawValue))") }
    }
}
