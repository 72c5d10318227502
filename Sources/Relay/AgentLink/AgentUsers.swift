import Glibc
import NIOCore
import NIOPosix
package import Wire

/// The users of this machine whose processes may be agents: the relay's own, root, and those that the operator names.
///
/// The token alone is not enough: another user may have read it from a file or an environment.
package struct AgentUsers: Sendable {
    private let ids: Set<UInt32>

    /// Creates the set of allowed users.
    ///
    /// - Parameter others: Users besides the relay's own and root.
    package init(others: [UInt32]) { ids = Set(others + [geteuid(), 0]) }

    /// Returns why the process at the other end of `channel` may not be an agent; `nil` if it may.
    func objection(to channel: any Channel) async -> Reject? {
        guard let peer = channel.remoteAddress, let local = channel.localAddress else { return objection(to: nil) }
        do {
            // Not on the media loop, because the kernel's list is long if there are many connections.
            let user = try await NIOThreadPool.singleton.runIfActive { try PeerUser.id(at: peer, connectedTo: local) }
            return objection(to: user)
        } catch {
            let reason = "the process's user cannot be looked up now: \(error)"
            return Reject(code: .unavailable, reason: reason)
        }
    }

    /// Returns why a user may not run agents; `nil` if it may.
    ///
    /// - Parameter user: The user's id; `nil` if unknown.
    package func objection(to user: UInt32?) -> Reject? {
        guard let user else {
            return Reject(
                code: .wrongUser,
                reason: "the kernel does not report the process's user: connect from this machine"
            )
        }
        guard !ids.contains(user) else { return nil }
        let reason = "user \(user) may run no agents: name them in the relay's agentUsers"
        return Reject(code: .wrongUser, reason: reason)
    }
}

/// The connections to the agents' port without an admitted agent: they have not sent HELLO yet, or are being refused.
@MediaLoop
final class AgentStrangers: Sendable {
    /// There are too many connections even to send a refusal.
    struct Crowded: Error {}

    /// Most connections that may send HELLO.
    private static let maximum = 64
    /// Most connections that are told that there are too many.
    private static let maximumRefused = 64

    private var present: Set<ObjectIdentifier> = []

    /// Records a new connection.
    ///
    /// - Returns: Whether it may send HELLO. If not, it must be refused.
    func arrived(_ channel: any Channel) throws(Crowded) -> Bool {
        guard present.count < Self.maximum + Self.maximumRefused else { throw Crowded() }
        let isHeard = present.count < Self.maximum
        let id = ObjectIdentifier(channel)
        present.insert(id)
        channel.closeFuture.whenComplete { [weak self] _ in
            MediaLoop.assumeIsolated { _ = self?.present.remove(id) }
        }
        return isHeard
    }

    /// Records that an agent was admitted on the connection.
    func admitted(_ channel: any Channel) { present.remove(ObjectIdentifier(channel)) }
}
