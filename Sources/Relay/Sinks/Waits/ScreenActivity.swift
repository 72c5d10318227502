import Media
package import NIOCore
import Wire

/// Derives from a session's pictures when the screen last changed, and since when it is static.
///
/// A change is a picture of a different frame. Pictures are only compared within one agent's source. The first picture
/// after a switch or a loss shows the screen, but not whether it changed. So the static time restarts there.
package struct ScreenActivity: Sendable {
    /// A picture, and when the relay received it.
    package struct Moment: Sendable, Equatable {
        package let pts: Int64
        package let time: NIODeadline

        package init(pts: Int64, time: NIODeadline) {
            self.pts = pts
            self.time = time
        }
    }

    /// The condition of a wait.
    package enum Condition: Sendable, Equatable {
        /// A change after this instant, then no change for this time.
        case changed(since: NIODeadline, settled: TimeAmount)
        /// A change after the picture with this PTS, µs, then no change for this time.
        case changedAfter(Int64, settled: TimeAmount)
        /// No change for this time. It may begin before the wait, but must begin after the picture with this PTS, µs.
        case `static`(TimeAmount, after: Int64?)
    }

    /// Whether a condition is met.
    package enum Verdict: Sendable, Equatable {
        /// The condition is met. The moment is that of the change, or of the last picture that differed.
        case met(Moment)
        /// The condition will be met at this instant, unless something happens before.
        case due(NIODeadline)
        /// The condition cannot be met before something happens.
        case open
    }

    private var lastChange: Moment?
    /// The first picture that shows the current screen; `nil` while that is unknown.
    private var staticSince: Moment?
    /// The agent of the last picture, and when its frame was captured, ns; `nil` if the next picture has nothing to
    /// compare with.
    private var shown: (role: AgentRole, captured: UInt64)?
    /// Whether repeats may still show the old screen, since its source was lost.
    private var awaitsFrame = false

    package init() {}

    /// Records a picture of the stream.
    ///
    /// - Parameter isLive: Whether its agent's source delivers. If not, it is an old picture or a slate.
    /// - Returns: Whether it changes any verdict.
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
        // The same frame comes again when encoding restarts. It comes first in a repeat if its own picture was lost.
        guard captured != shown.captured else { return false }
        self.shown = (role, captured)
        (staticSince, lastChange) = (moment, moment)
        return true
    }

    /// Records that the screen's state is unknown: no agent feeds the session, or its source does not deliver.
    package mutating func interrupted() { (shown, staticSince) = (nil, nil) }

    /// Records that the source of the current pictures no longer delivers.
    package mutating func sourceLost() {
        interrupted()
        awaitsFrame = true
    }

    /// Returns whether the condition is met at `now`.
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
