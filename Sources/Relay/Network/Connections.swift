import Logging
package import NIOCore
import Synchronization

/// The connections of callers and viewers, over HTTP and on sessions' ports, and their limits.
final class Connections: Sendable {
    /// Why a connection is refused. The raw value is the metric's label.
    enum Refusal: String, Error, CaseIterable {
        /// The limit on all connections is reached.
        case all
        /// The limit for the connection's address is reached.
        case address
        /// The limit on connections to sessions' ports without a key is reached.
        case strangers
        /// New connections to sessions' ports come too fast.
        case rate
    }

    private struct State {
        var limits: ConnectionLimits
        /// The number of connections by ``PeerAddress/party(of:)``. Parties without one are removed.
        var counts: [String: Int] = [:]
        var total = 0
        var refused: [Refusal: UInt64] = [:]
        /// The number of refused connections that are being told why.
        var farewells = 0
        /// When a refusal was last logged.
        var logged: [Refusal: NIODeadline] = [:]
    }

    /// The shortest interval between log lines about one refusal.
    private static let logInterval = TimeAmount.seconds(10)
    /// Most refused connections that are told why at once. Others are closed without an answer.
    private static let maximumFarewells = 64

    private let state: Mutex<State>
    private let logger: Logger

    init(limits: ConnectionLimits, logger: Logger) {
        state = Mutex(State(limits: limits))
        self.logger = logger
    }

    /// The limits for new connections; existing ones stay.
    var limits: ConnectionLimits {
        get { state.withLock { $0.limits } }
        set { state.withLock { $0.limits = newValue } }
    }

    /// The number of admitted connections.
    var count: Int { state.withLock { $0.total } }

    /// Returns the number of connections refused since the relay started.
    func refusals(because reason: Refusal) -> UInt64 { state.withLock { $0.refused[reason, default: 0] } }

    /// Admits a connection until it closes.
    func admit(_ channel: any Channel) throws(Refusal) {
        let party = PeerAddress.party(of: channel.remoteAddress)
        let refusal = state.withLock { state -> Refusal? in
            if state.total >= state.limits.maximum { return .all }
            if state.counts[party, default: 0] >= state.limits.maximumPerAddress { return .address }
            state.total += 1
            state.counts[party, default: 0] += 1
            return nil
        }
        if let refusal {
            refused(channel, because: refusal)
            throw refusal
        }
        channel.closeFuture.whenComplete { [self] _ in
            state.withLock { state in
                state.total -= 1
                let left = state.counts[party, default: 0] - 1
                state.counts[party] = left > 0 ? left : nil
            }
        }
    }

    /// Counts a refused connection.
    func refused(_ channel: any Channel, because reason: Refusal) {
        let now = NIODeadline.now()
        let (count, limits) = state.withLock { state -> (UInt64?, ConnectionLimits) in
            let count = state.refused[reason, default: 0] + 1
            state.refused[reason] = count
            if let last = state.logged[reason], now - last < Self.logInterval { return (nil, state.limits) }
            state.logged[reason] = now
            return (count, state.limits)
        }
        if let count { logger.warning("\(statement(channel, reason, limits)); \(count) so far") }
    }

    /// Returns whether a refused connection may be told why. If so, it counts until it closes.
    func tellsWhy(_ channel: any Channel) -> Bool {
        let isTold = state.withLock { state in
            guard state.farewells < Self.maximumFarewells else { return false }
            state.farewells += 1
            return true
        }
        guard isTold else { return false }
        channel.closeFuture.whenComplete { [self] _ in state.withLock { $0.farewells -= 1 } }
        return true
    }

    private func statement(_ channel: any Channel, _ reason: Refusal, _ limits: ConnectionLimits) -> String {
        switch reason {
        case .all: "connections are refused: there are \(limits.maximum), the most there may be (maxConnections)"
        case .address:
            "connections from \(PeerAddress.text(of: channel.remoteAddress)) are refused: it has \(limits.maximumPerAddress), the most an address may have (maxConnectionsPerAddress)"
        case .strangers: "connections to sessions' ports are refused: too many have not shown their key yet"
        case .rate: "connections to sessions' ports are refused: too many come at once"
        }
    }
}

/// The limits on connections of callers and viewers, and on the time they may take.
package struct ConnectionLimits: Sendable, Equatable {
    /// Most connections in all: HTTP, WebSockets and sessions' ports.
    package var maximum = 4096
    /// Most connections of one address.
    package var maximumPerAddress = 1024
    /// The time limit for the head of a connection's first request including the TLS handshake, for each request's
    /// body, and for a key on a session's port.
    package var requestTimeout = TimeAmount.seconds(10)
    /// How long a connection may be idle between two requests, and how long it may take nothing of an answer.
    package var idleTimeout = TimeAmount.seconds(75)

    package init() {}
}
