import NIOCore
import NIOSSL

/// What a viewer on a session's TCP port goes through where others than this machine reach it: TLS, and its key as the first line.
///
/// A handshake is dear, and is done on the loop that all media passes. So strangers are few and come slowly: the others are closed at once.
package final class StreamEntrance: Sendable {
    /// How many may come that have not shown their key yet, to all sessions together.
    package struct Policy: Sendable {
        /// At a time.
        package var maximum = 64
        /// New ones at once, and per second in the long run.
        package var burst = 100
        package var perSecond = 50

        package init() {}
    }

    /// Isolated to the media loop.
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

    /// The handlers of a connection that is let on to `handler` once it has shown a key. Called on the media loop.
    ///
    /// - Throws: Why there is no place for it, which closes it.
    func handlers(for channel: any Channel, before handler: TCPViewerHandler) throws(Connections.Refusal)
        -> [any ChannelHandler]
    {
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
        let key = KeyLineHandler(access: access, timeout: timeout, next: handler) { [self] in
            MediaLoop.assumeIsolated { strangers -= 1 }
        }
        return [tls.makeHandler(), key]
    }
}
