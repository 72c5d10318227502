/// When the next shot of a screen is due: at the fastest session's rate as long as shots are quick enough, later when they take long or fail.
///
/// Times are monotonic ns.
package struct ShotSchedule: Sendable {
    /// Shots that may fail in a row before the source is given up.
    package static let failuresInRow = 5
    private static let firstPause: UInt64 = .milliseconds(100)
    private static let longestPause: UInt64 = .milliseconds(2_000)

    /// What decides how soon after a shot the next one may be taken.
    package enum Pace: Sendable {
        /// The sessions' rate.
        case clock
        /// The same, where a shot is done with a refresh of the screen. The next one is asked for a quarter of the interval early, as
        /// one that is asked for a hair too late waits for one more refresh.
        case refresh
        /// The same, and no more than half of the time is spent on shots.
        case halfTime
    }

    private let pace: Pace
    /// From one shot to the next; nil while nobody wants any.
    private var interval: UInt64?
    /// The next shot is due an interval after it.
    private var base: UInt64 = 0
    /// The end of a rest or a pause.
    private var notBefore: UInt64 = 0
    private var failures = 0

    package init(pace: Pace) {
        self.pace = pace
    }

    /// When to take the next shot; nil while nobody wants any.
    package var due: UInt64? { interval.map { max(base + $0, notBefore) } }

    /// Whether the source is to be given up.
    package var hasFailed: Bool { failures >= Self.failuresInRow }

    /// - Parameter fps: Shots per second; nil for none. After none, the first is due at once.
    package mutating func follow(fps: Int?, now: UInt64) {
        let wasWanted = interval != nil
        let whole: UInt64 = pace == .refresh ? 750_000_000 : 1_000_000_000
        interval = fps.map { whole / UInt64($0) }
        if !wasWanted, let interval { base = now - min(now, interval) }
    }

    /// Notes a shot.
    package mutating func taken(began: UInt64, ended: UInt64) {
        failures = 0
        rest(after: began, ended, 0)
    }

    /// Notes a shot that failed: pauses grow with every one in a row.
    package mutating func failed(began: UInt64, ended: UInt64) {
        failures += 1
        let doublings = min(failures - 1, 10)
        rest(after: began, ended, min(Self.firstPause << UInt64(doublings), Self.longestPause))
    }

    private mutating func rest(after began: UInt64, _ ended: UInt64, _ pause: UInt64) {
        notBefore = ended + max(pause, pace == .halfTime ? ended - began : 0)
        guard let interval else { return }
        // One that comes late, or takes long, begins anew: what was missed is not caught up on.
        base = pace == .refresh ? ended : max(base + interval, ended - min(ended, interval))
    }
}
