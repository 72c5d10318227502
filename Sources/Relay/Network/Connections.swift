import Logging
package import NIOCore
import Synchronization

/// The connections of callers and viewers, over HTTP and on sessions' ports: who may have another one.
final class Connections: Sendable {
    /// Why there is no place for a connection. Its raw value is the metric's label.
    enum Refusal: String, Error, CaseIterable {
        /// There are as many as there may be in all.
        case all
        /// Its address has as many as one may have.
        case address
        /// As many as may be have not shown their key yet, on sessions' ports.
        case strangers
        /// New ones come too fast, on sessions' ports.
        case rate
    }

    private struct State {
        var limits: ConnectionLimits
        /// By ``PeerAddress/party(of:)``; parties without a connection are left out.
        var counts: [String: Int] = [:]
        var total = 0
        var refused: [Refusal: UInt64] = [:]
        /// Refused connections that are being told why.
        var farewells = 0
        /// When a refusal was last logged.
        var logged: [Refusal: NIODeadline] = [:]
    }

    /// How often a refusal is logged at most.
    private static let logInterval = TimeAmount.seconds(10)
    /// Most refused connections that are told why at once. Others are closed without a word.
    private static let maximumFarewells = 64

    private let state: Mutex<State>
    private let logger: Logger

    init(limits: ConnectionLimits, logger: Logger) {
        state = Mutex(State(limits: limits))
        self.logger = logger
    }

    /// What holds for new connections; those that are there stay.
    var limits: ConnectionLimits {
        get { state.withLock { $0.limits } }
        set { state.withLock { $0.limits = newValue } }
    }

    /// Connections that have a place now.
    var count: Int { state.withLock { $0.total } }

    /// Connections refused since the relay started.
    func refusals(because reason: Refusal) -> UInt64 { state.withLock { $0.refused[reason, default: 0] } }

    /// Gives a connection a place until it closes.
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

    /// Counts a connection that is refused.
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

    /// Whether a refused connection may be told why, which holds it until it closes.
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
        case .rate: "connections to sessions' ports are refused: they come too fast"
        }
    }
}

/// How many connections callers and viewers may have, and for how long one may keep the relay waiting.
package struct ConnectionLimits: Sendable, Equatable {
    /// Most connections in all: HTTP, WebSockets and sessions' ports.
    package var maximum = 4096
    /// Most connections of one address.
    package var maximumPerAddress = 1024
    /// How long the head of a connection's first request may take, with the TLS handshake; each request's body; and a key on a session's port.
    package var requestTimeout = TimeAmount.seconds(10)
    /// How long a connection may be idle between two requests, and how long it may take nothing of an answer.
    package var idleTimeout = TimeAmount.seconds(75)

    package init() {}
}
