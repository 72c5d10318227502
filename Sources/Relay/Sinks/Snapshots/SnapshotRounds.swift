package import NIOCore

/// Shares snapshots between the callers that want one of the same session and format.
///
/// One request is pending at a time. Callers that come too late for it share the next one.
package struct SnapshotRounds: Sendable {
    /// The number of a request that several callers wait for. Counted from 1.
    package typealias Round = Int

    /// How a caller gets its snapshot.
    package enum Place: Sendable, Equatable {
        /// The last snapshot is recent enough.
        case kept(KeptSnapshot)
        case waits(Round)
    }

    private struct UnderWay: Sendable {
        let request: UInt32
        let asked: NIODeadline
        let isFresh: Bool
    }

    private var kept: KeptSnapshot?
    private var underWay: UnderWay?
    /// Whether the next round is wanted, and must bring a fresh picture.
    private var (isNextWanted, isNextFresh) = (false, false)
    /// The pending round, or the last one.
    private var current: Round = 0

    package init() {}

    /// Whether the next round is wanted and none is pending.
    package var isDue: Bool { underWay == nil && isNextWanted }

    /// Adds a caller that wants a snapshot requested at `since` or later.
    ///
    /// - Parameter isFresh: Whether its frame must be captured after `since` too, if the screen has changed.
    package mutating func join(since: NIODeadline, isFresh: Bool) -> Place {
        if let kept, kept.asked >= since, !isFresh { return .kept(kept) }
        if let underWay, underWay.asked >= since, underWay.isFresh || !isFresh { return .waits(current) }
        isNextWanted = true
        isNextFresh = isNextFresh || isFresh
        return .waits(current + 1)
    }

    /// Begins the next round if one is wanted and none is pending.
    ///
    /// - Parameter request: The id for the new request.
    /// - Returns: Whether to ask the agent for a fresh picture (`true`) or any (`false`); `nil` to ask for nothing.
    package mutating func begin(request: UInt32, now: NIODeadline) -> Bool? {
        guard isDue else { return nil }
        let isFresh = isNextFresh
        underWay = UnderWay(request: request, asked: now, isFresh: isFresh)
        (isNextWanted, isNextFresh) = (false, false)
        current += 1
        return isFresh
    }

    /// Returns when the pending request was sent, if it has this id.
    package func asked(_ request: UInt32) -> NIODeadline? { underWay?.request == request ? underWay?.asked : nil }

    /// Ends the pending round.
    ///
    /// - Parameter snapshot: The result; `nil` if there is none.
    /// - Returns: The round; `nil` if none was pending.
    package mutating func end(with snapshot: KeptSnapshot?) -> Round? {
        guard underWay != nil else { return nil }
        underWay = nil
        if let snapshot { kept = snapshot }
        return current
    }

    /// Drops the kept snapshot if it was requested before `instant`.
    package mutating func forget(before instant: NIODeadline) {
        if let kept, kept.asked < instant { self.kept = nil }
    }
}
