/// When the next shot of a screen is due: at the fastest session's rate as long as shots are quick enough, later when they take long or fail.
///
/// Times are monotonic ns.
package struct ShotSchedule: Sendable {
    /// Shots that may fail in a row before the source is given up.
    package static let failuresInRow = 5
    private static let firstPause: UInt64 = .milliseconds(100)
    private static let longestPause: UInt64 = .milliseconds(2_000)

    /// How long to rest after a shot, as a part of what it took.
    private let restPerShot: Double
    /// From one shot to the next; nil while nobody wants any.
    private var interval: UInt64?
    /// The next shot is due an interval after it.
    private var base: UInt64 = 0
    /// The end of a rest or a pause.
    private var notBefore: UInt64 = 0
    private var failures = 0

    package init(restPerShot: Double) {
        self.restPerShot = restPerShot
    }

    /// When to take the next shot; nil while nobody wants any.
    package var due: UInt64? { interval.map { max(base + $0, notBefore) } }

    /// Whether the source is to be given up.
    package var hasFailed: Bool { failures >= Self.failuresInRow }

    /// - Parameter fps: Shots per second; nil for none. After none, the first is due at once.
    package mutating func follow(fps: Int?, now: UInt64) {
        let wasWanted = interval != nil
        interval = fps.map { 1_000_000_000 / UInt64($0) }
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
        notBefore = ended + max(pause, UInt64(Double(ended - began) * restPerShot))
        // One that comes late, or takes long, begins anew: what was missed is not caught up on.
        if let interval { base = max(base + interval, ended - min(ended, interval)) }
    }
}
