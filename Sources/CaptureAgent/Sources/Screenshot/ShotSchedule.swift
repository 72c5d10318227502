/// Decides when the next shot of a screen is due.
///
/// Shots follow the fastest session's rate while they are quick enough, and come later if they take long or fail. Times
/// are monotonic ns.
package struct ShotSchedule: Sendable {
    /// How many shots may fail in a row before the source is given up.
    package static let failuresInRow = 5
    private static let firstPause: UInt64 = .milliseconds(100)
    private static let longestPause: UInt64 = .milliseconds(2_000)

    /// The rule for how soon after a shot the next one may be taken.
    package enum Pace: Sendable {
        /// At the sessions' rate.
        case clock
        /// At the sessions' rate, for shots that finish with a refresh of the screen.
        ///
        /// The next shot is requested a quarter of the interval early, because one that is requested slightly too late
        /// waits for another refresh. One that has waited for a change for longer than that is followed at once.
        case refresh
        /// At the sessions' rate, but spending at most half of the time on shots.
        case halfTime
    }

    private let pace: Pace
    /// The time between two shots, in ns; `nil` while no session wants any.
    private var interval: UInt64?
    /// The next shot is due one interval after this time.
    private var base: UInt64 = 0
    /// The end of a rest or a pause.
    private var notBefore: UInt64 = 0
    private var failures = 0

    package init(pace: Pace) {
        self.pace = pace
    }

    /// When to take the next shot; `nil` while no session wants any.
    package var due: UInt64? { interval.map { max(base + $0, notBefore) } }

    /// Whether the source must be given up.
    package var hasFailed: Bool { failures >= Self.failuresInRow }

    /// Changes the rate. After a time without shots, the first one is due at once.
    ///
    /// - Parameter fps: Shots per second; `nil` for none.
    package mutating func follow(fps: Int?, now: UInt64) {
        let wasWanted = interval != nil
        let whole: UInt64 = pace == .refresh ? 750_000_000 : 1_000_000_000
        interval = fps.map { whole / UInt64($0) }
        if !wasWanted, let interval { base = now - min(now, interval) }
    }

    /// Records a shot.
    package mutating func taken(began: UInt64, ended: UInt64) {
        failures = 0
        rest(after: began, ended, 0)
    }

    /// Records a failed shot. The pause grows with each failure in a row.
    package mutating func failed(began: UInt64, ended: UInt64) {
        failures += 1
        let doublings = min(failures - 1, 10)
        rest(after: began, ended, min(Self.firstPause << UInt64(doublings), Self.longestPause))
    }

    private mutating func rest(after began: UInt64, _ ended: UInt64, _ pause: UInt64) {
        notBefore = ended + max(pause, pace == .halfTime ? ended - began : 0)
        guard let interval else { return }
        // A late or slow shot starts a new sequence, because missed shots are not made up for.
        let isLate = pace != .refresh || ended - began >= interval
        base = isLate ? max(base + interval, ended - min(ended, interval)) : ended
    }
}
