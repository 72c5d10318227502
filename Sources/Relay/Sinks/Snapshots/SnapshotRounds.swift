package import NIOCore

/// How those who want a snapshot of one session and format share what the agent makes: one request is under way at a time, and who comes too late for
/// it waits for the next one together with all others that do.
package struct SnapshotRounds: Sendable {
    /// One request and all that wait for its answer. Counted from 1.
    package typealias Round = Int

    package enum Place: Sendable, Equatable {
        /// The last snapshot will do.
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
    /// Whether the next round is wanted, and is to bring a fresh picture.
    private var (isNextWanted, isNextFresh) = (false, false)
    /// The round under way, or the last one that was.
    private var current: Round = 0

    package init() {}

    /// Whether the next round is wanted, and none is under way.
    package var isDue: Bool { underWay == nil && isNextWanted }

    /// Takes in somebody who wants a snapshot that is asked for at `since` or later.
    ///
    /// - Parameter isFresh: Whether its frame is to be captured after that as well, as far as the screen changes.
    package mutating func join(since: NIODeadline, isFresh: Bool) -> Place {
        if let kept, kept.asked >= since, !isFresh { return .kept(kept) }
        if let underWay, underWay.asked >= since, underWay.isFresh || !isFresh { return .waits(current) }
        isNextWanted = true
        isNextFresh = isNextFresh || isFresh
        return .waits(current + 1)
    }

    /// Begins the next round where one is wanted and none is under way.
    ///
    /// - Parameter request: The id that the request would get.
    /// - Returns: Whether the agent is to be asked, and then for a fresh picture or any; nil for nothing.
    package mutating func begin(request: UInt32, now: NIODeadline) -> Bool? {
        guard isDue else { return nil }
        let isFresh = isNextFresh
        underWay = UnderWay(request: request, asked: now, isFresh: isFresh)
        (isNextWanted, isNextFresh) = (false, false)
        current += 1
        return isFresh
    }

    /// When the request under way was sent, if it is this one.
    package func asked(_ request: UInt32) -> NIODeadline? { underWay?.request == request ? underWay?.asked : nil }

    /// Ends the round under way.
    ///
    /// - Parameter snapshot: What it brought; nil for nothing.
    /// - Returns: The round, nil when none was under way.
    package mutating func end(with snapshot: KeptSnapshot?) -> Round? {
        guard underWay != nil else { return nil }
        underWay = nil
        if let snapshot { kept = snapshot }
        return current
    }

    /// Lets go of a snapshot that was asked for before `instant`.
    package mutating func forget(before instant: NIODeadline) {
        if let kept, kept.asked < instant { self.kept = nil }
    }
}
