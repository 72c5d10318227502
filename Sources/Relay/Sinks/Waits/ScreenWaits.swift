import NIOCore

/// The callers that wait until a session's screen changes or is static.
@MediaLoop
final class ScreenWaits: Sink {
    /// A caller that waits.
    struct Waiter: Hashable {
        fileprivate let id: Int
    }

    /// A condition that was met.
    struct Result {
        let moment: ScreenActivity.Moment
        /// When the condition was met.
        let time: NIODeadline
    }

    /// How many callers may wait at once.
    var maximum: Int
    private var activity = ScreenActivity()
    private var waiters: [Waiter: Waiters<Void>] = [:]
    private var lastID = 0
    /// Whether the source of the agent that feeds the session delivers.
    private var isLive = false
    private var ended = false

    /// Creates the waits of a session.
    ///
    /// - Parameter maximum: How many callers may wait at once.
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

    /// Reserves a place, which ``abandon(_:)`` releases.
    func join() throws(ScreenWaitFailure) -> Waiter {
        guard !ended else { throw .ended }
        guard waiters.count < maximum else { throw .tooMany(limit: maximum) }
        lastID += 1
        let waiter = Waiter(id: lastID)
        waiters[waiter] = Waiters()
        return waiter
    }

    /// Waits until `condition` is met, which may be at once. A caller may wait again after a time-out.
    func wait(_ waiter: Waiter, for condition: ScreenActivity.Condition, until deadline: NIODeadline)
        async
        throws(ScreenWaitFailure) -> Result
    {
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

    /// Releases a place when its caller is gone.
    func abandon(_ waiter: Waiter) { waiters.removeValue(forKey: waiter)?.resume(with: ()) }
}

/// Why a wait has no answer.
enum ScreenWaitFailure: Error {
    case timedOut
    /// The limit of waiting callers is reached.
    case tooMany(limit: Int)
    /// The session has ended.
    case ended
    /// The waiting caller is gone.
    case abandoned
}
