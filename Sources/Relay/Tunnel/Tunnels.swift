import HeliographAPI
import Logging
import Synchronization

/// Runs the tunnel that operators want, one at a time.
final class Tunnels: Sendable {
    private let executable: String
    private let backoff: RestartBackoff.Policy
    private let events: EventHub
    private let logger: Logger
    private let wanted: Mutex<Tunnel?>
    /// What ``wanted`` became. Only the newest counts.
    private let (wishes, wish) = AsyncStream<Tunnel?>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// - Parameter choice: The first tunnel.
    init(
        _ choice: TunnelChoice,
        executable: String,
        backoff: RestartBackoff.Policy,
        events: EventHub,
        logger: Logger
    ) {
        (self.executable, self.backoff, self.events, self.logger) = (executable, backoff, events, logger)
        wanted = Mutex(nil)
        if choice != .none { turn(to: choice) }
    }

    /// The tunnel that runs, or is about to; `nil` for none.
    var current: Tunnel? { wanted.withLock { $0 } }

    /// Replaces the tunnel, unless it is the same.
    func turn(to choice: TunnelChoice) {
        wanted.withLock { wanted in
            guard choice != wanted?.choice ?? .none else { return }
            let tunnel = Tunnel(choice, executable: executable, backoff: backoff, events: events, logger: logger)
            wanted = choice == .none ? nil : tunnel
            wish.yield(wanted)
            events.publish(.tunnelChanged, state: wanted?.status.state.rawValue)
        }
    }

    /// Runs tunnels until the task is cancelled. It is called once.
    ///
    /// - Parameter serve: Serves a tunnel until its task is cancelled.
    func run(_ serve: @escaping @Sendable (Tunnel) async throws -> Void) async {
        var running: Task<Void, Never>?
        for await tunnel in wishes {
            running?.cancel()
            await running?.value
            running = tunnel.map { tunnel in
                Task { [logger] in
                    do {
                        try await serve(tunnel)
                    } catch {
                        logger.error("the tunnel's port cannot be served: \(error)")
                    }
                }
            }
        }
        running?.cancel()
        await running?.value
    }
}
