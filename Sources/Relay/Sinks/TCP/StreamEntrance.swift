import NIOCore
import NIOSSL

/// The checks for viewers on a session's TCP port that other machines can reach: TLS, and an API key as the first line.
///
/// TLS handshakes are expensive and run on the media loop. So the number and rate of connections without a key is
/// limited; the relay closes the rest at once.
package final class StreamEntrance: Sendable {
    /// The limits on connections that have not shown a key yet, for all sessions together.
    package struct Policy: Sendable {
        /// Most connections at a time.
        package var maximum = 64
        /// Most new connections at once, and per second in the long run.
        package var burst = 100
        package var perSecond = 50

        package init() {}
    }

    /// The number of connections without a key. Isolated to the media loop.
    @MediaLoop private var strangers = 0
    @MediaLoop private var arrivals: TokenBucket

    private let policy: Policy
    private let access: AccessControl
    private let tls: TLSServer
    private let connections: Connections

    @MediaLoop
    init(policy: Policy, access: AccessControl, tls: TLSServer, connections: Connections) {
        self.policy = policy
        self.access = access
        self.tls = tls
        self.connections = connections
        arrivals = TokenBucket(capacity: policy.burst, perSecond: policy.perSecond)
    }

    /// Returns the handlers of a connection, which gets to `handler` once it has shown a key. Called on the media loop.
    ///
    /// - Parameter device: The device that the key must be for.
    /// - Throws: Why there is no room for it. The caller closes it.
    func handlers(
        for channel: any Channel,
        of device: String,
        before handler: PortViewerHandler
    ) throws(Connections.Refusal) -> [any ChannelHandler] {
        let refusal = MediaLoop.assumeIsolated { () -> Connections.Refusal? in
            guard strangers < policy.maximum else { return .strangers }
            guard arrivals.take(now: .now()) else { return .rate }
            strangers += 1
            return nil
        }
        if let refusal {
            connections.refused(channel, because: refusal)
            throw refusal
        }
        let timeout = connections.limits.requestTimeout
        let key = KeyLineHandler(access: access, device: device, timeout: timeout, next: handler) { [self] in
            MediaLoop.assumeIsolated { strangers -= 1 }
        }
        return [tls.makeHandler(for: .other), key]
    }
}
