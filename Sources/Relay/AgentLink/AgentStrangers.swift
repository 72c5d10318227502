import NIOCore

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
