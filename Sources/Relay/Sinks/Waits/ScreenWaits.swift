import NIOCore

/// Those who wait until a session's screen changes or is static.
@MediaLoop
final class ScreenWaits: Sink {
    /// One who waits.
    struct Waiter: Hashable {
        fileprivate let id: Int
    }

    struct Result {
        let moment: ScreenActivity.Moment
        /// When it was so.
        let time: NIODeadline
    }

    /// How many may wait at once.
    var maximum: Int
    private var activity = ScreenActivity()
    private var waiters: [Waiter: Waiters<Void>] = [:]
    private var lastID = 0
    /// Whether the source of the agent that feeds the session delivers.
    private var isLive = false
    private var ended = false

    /// - Parameter maximum: How many may wait at once.
    init(maximum: Int) { self.maximum = maximum }

    // MARK: Sink

    var demand: Demand { waiters.isEmpty ? .none : Demand(video: .changes) }

    func take(_ item: StreamItem) {
        switch item {
        case .unit(let unit):
            if unit.isVideo, activity.take(unit, isLive: isLive, now: .now()) { wake() }
        case .feed(let source):
            isLive = source != .none
            if !isLive { activity.interrupted() }
        case .sourceLost: activity.sourceLost()
        case .end:
            ended = true
            wake()
        case .tracks: break
        }
    }

    private func wake() {
        for waiter in waiters.values { waiter.resume(with: ()) }
    }

    // MARK: Waiting

    /// Takes a place, which ``wait(_:for:until:)`` and ``abandon(_:)`` give back.
    func join() throws(ScreenWaitFailure) -> Waiter {
        guard !ended else { throw .ended }
        guard waiters.count < maximum else { throw .tooMany(limit: maximum) }
        lastID += 1
        let waiter = Waiter(id: lastID)
        waiters[waiter] = Waiters()
        return waiter
    }

    /// Waits until `condition` is so, which it may be already.
    func wait(_ waiter: Waiter, for condition: ScreenActivity.Condition, until deadline: NIODeadline)
        async
        throws(ScreenWaitFailure) -> Result
    {
        defer { waiters[waiter] = nil }
        while true {
            guard !ended else { throw .ended }
            guard let news = waiters[waiter] else { throw .abandoned }
            let now = NIODeadline.now()
            let due: NIODeadline
            switch activity.verdict(condition, now: now) {
            case .met(let moment): return Result(moment: moment, time: now)
            case .due(let instant): due = min(instant, deadline)
            case .open: due = deadline
            }
            guard now < deadline else { throw .timedOut }
            await news.wait(until: due)
        }
    }

    /// The one who waits has gone.
    func abandon(_ waiter: Waiter) { waiters.removeValue(forKey: waiter)?.resume(with: ()) }
}

/// Why nobody says that a screen has changed or is static.
enum ScreenWaitFailure: Error {
    case timedOut
    /// As many as this wait already.
    case tooMany(limit: Int)
    /// The session has ended.
    case ended
    /// The one who waited has gone.
    case abandoned
}
