import Glibc
import NIOCore
import NIOPosix
package import Wire

/// The users of this machine whose processes may be agents: the relay's own, root, and those that the operator names. The token alone does not do: it may have
/// been read off a file or an environment by somebody else.
package struct AgentUsers: Sendable {
    private let ids: Set<UInt32>

    /// - Parameter others: Beside the relay's own user and root.
    package init(others: [UInt32]) { ids = Set(others + [geteuid(), 0]) }

    /// What speaks against the process at the other end of `channel`; nil for nothing.
    func objection(to channel: any Channel) async -> Reject? {
        guard let peer = channel.remoteAddress, let local = channel.localAddress else { return objection(to: nil) }
        do {
            // Not on the media loop: the kernel's list is long where there are many connections.
            let user = try await NIOThreadPool.singleton.runIfActive { try PeerUser.id(at: peer, connectedTo: local) }
            return objection(to: user)
        } catch {
            let reason = "whose process this is cannot be looked up now: \(error)"
            return Reject(code: .unavailable, reason: reason)
        }
    }

    /// - Parameter user: Nil where it cannot be told.
    package func objection(to user: UInt32?) -> Reject? {
        guard let user else {
            return Reject(
                code: .wrongUser,
                reason: "the kernel does not tell whose process this is: connect from this machine"
            )
        }
        guard !ids.contains(user) else { return nil }
        let reason = "user \(user) may run no agents: name them in the relay's agentUsers"
        return Reject(code: .wrongUser, reason: reason)
    }
}

/// The connections to the agents' port that are no agent's: they have not said HELLO yet, or are being told why they are refused.
@MediaLoop
final class AgentStrangers: Sendable {
    /// There is no place to tell it why, either.
    struct Crowded: Error {}

    /// Most that are listened to.
    private static let maximum = 64
    /// Most that are told that there are too many.
    private static let maximumRefused = 64

    private var present: Set<ObjectIdentifier> = []

    /// A connection has come.
    ///
    /// - Returns: Whether it is listened to. Else it is to be refused.
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

    /// It is an agent's.
    func admitted(_ channel: any Channel) { present.remove(ObjectIdentifier(channel)) }
}
