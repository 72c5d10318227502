import Media
package import NIOCore
import Wire

/// What a session's pictures tell of its screen: when it changed last, and since when it is static.
///
/// A change is a picture of a frame that is not the one before. Only pictures of one agent's source are compared: the first one of another
/// agent, or after the source was lost, says what the screen shows by then and not whether it has changed, so the time for which the screen is static begins with it.
package struct ScreenActivity: Sendable {
    /// A picture, and when the relay had it.
    package struct Moment: Sendable, Equatable {
        package let pts: Int64
        package let time: NIODeadline

        package init(pts: Int64, time: NIODeadline) {
            self.pts = pts
            self.time = time
        }
    }

    /// What somebody waits for.
    package enum Condition: Sendable, Equatable {
        /// A change from this instant on, and then none for this time.
        case changed(since: NIODeadline, settled: TimeAmount)
        /// A change after the picture of this PTS, µs, and then none for this time.
        case changedAfter(Int64, settled: TimeAmount)
        /// No change for this time, which may have begun before anybody waited, but not with the picture of this PTS or before.
        case `static`(TimeAmount, after: Int64?)
    }

    package enum Verdict: Sendable, Equatable {
        /// It is so. The moment is that of the change, or of the last picture that was another.
        case met(Moment)
        /// It is so at this instant, unless something happens before.
        case due(NIODeadline)
        /// Not before something happens.
        case open
    }

    private var lastChange: Moment?
    /// The first picture of what the screen shows; nil while nothing tells what it shows.
    private var staticSince: Moment?
    /// Whose frame the last picture showed, and when it was captured, ns; nil where the next picture is compared with nothing.
    private var shown: (role: AgentRole, captured: UInt64)?
    /// Whether repeats may be of what the screen showed before its source was lost.
    private var awaitsFrame = false

    package init() {}

    /// A picture goes to the viewers.
    ///
    /// - Parameter isLive: Whether its agent's source delivers; else it is an old picture, or a slate.
    /// - Returns: Whether it tells anything new.
    package mutating func take(_ unit: MediaUnit, isLive: Bool, now: NIODeadline) -> Bool {
        guard isLive else {
            sourceLost()
            return false
        }
        let (role, captured) = (unit.feed, unit.header.captured)
        let isRepeat = unit.header.flags.contains(.repeat)
        let moment = Moment(pts: unit.pts, time: now)
        guard let shown, shown.role == role else {
            guard !isRepeat || !awaitsFrame else { return false }
            awaitsFrame = false
            self.shown = (role, captured)
            staticSince = moment
            return true
        }
        // A frame comes again where its encoding begins anew, and first in a repeat where its own picture was lost on the way.
        guard captured != shown.captured else { return false }
        self.shown = (role, captured)
        (staticSince, lastChange) = (moment, moment)
        return true
    }

    /// Nothing tells what the screen shows: no agent feeds the session, or its source does not deliver.
    package mutating func interrupted() { (shown, staticSince) = (nil, nil) }

    /// The source that the pictures are from does not deliver any more.
    package mutating func sourceLost() {
        interrupted()
        awaitsFrame = true
    }

    /// Whether what somebody waits for is so at `now`.
    package func verdict(_ condition: Condition, now: NIODeadline) -> Verdict {
        switch condition {
        case .changed(let since, let settled):
            guard let lastChange, lastChange.time >= since else { return .open }
            return settled > .zero ? staticTime(of: settled, now: now) : .met(lastChange)
        case .changedAfter(let pts, let settled):
            guard let lastChange, lastChange.pts > pts else { return .open }
            return settled > .zero ? staticTime(of: settled, now: now) : .met(lastChange)
        case .static(let time, let pts):
            guard let staticSince, pts.map({ staticSince.pts > $0 }) ?? true else { return .open }
            return staticTime(of: time, now: now)
        }
    }

    private func staticTime(of time: TimeAmount, now: NIODeadline) -> Verdict {
        guard let staticSince else { return .open }
        let due = staticSince.time + time
        return now >= due ? .met(staticSince) : .due(due)
    }
}
