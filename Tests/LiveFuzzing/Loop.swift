import Foundation
import TestSupport

/// Transfers the bytes of all of the fuzzer's connections on one thread, so that a seed always gives the same order of
/// actions.
final class Loop {
    /// How long one turn waits at most, in ms. Steady senders get a turn this often.
    private static let patience: Int32 = 5

    private var peers: [Peer] = []
    /// Called in each turn.
    var everyTurn: () -> Void = {}

    func add(_ peer: Peer) { peers.append(peer) }

    /// Transfers what can be transferred, and waits for that for at most `milliseconds`.
    func turn(milliseconds: Int32 = Loop.patience) {
        everyTurn()
        peers.removeAll { !$0.isOpen }
        let waiting = peers
        var interests = waiting.map { $0.interest ?? pollfd(fd: -1, events: 0, revents: 0) }
        guard poll(&interests, nfds_t(interests.count), milliseconds) > 0 else { return }
        for (peer, interest) in zip(waiting, interests) where interest.revents != 0 { peer.ready(interest.revents) }
    }

    /// Continues for this long.
    func run(milliseconds: Int) {
        let end = monotonicNow() + Int64(milliseconds) * 1_000_000
        repeat { turn(milliseconds: 1) } while monotonicNow() < end
    }

    /// Continues until `condition` holds or `seconds` have passed.
    ///
    /// - Returns: Whether it holds.
    @discardableResult
    func run(atMost seconds: Double, until condition: () -> Bool) -> Bool {
        let end = monotonicNow() + Int64(seconds * 1e9)
        while !condition() {
            guard monotonicNow() < end else { return false }
            turn()
        }
        return true
    }
}
