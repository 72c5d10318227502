import Media
import Pacing
import PacingSimulation
import TestSupport
import Testing

/// A program that draws at the session's rate on a screen that refreshes not quite twice as often. Each frame appears
/// with the next refresh, so it comes a little later than the one before, until one comes half an interval earlier.
@Suite("Frames that come with a screen's refreshes")
struct RefreshTests {
    private static let seconds: UInt64 = 1_000_000_000

    /// - Parameter part: How much longer than an interval two refreshes are, as a part of the interval.
    @Test(
        "hardly any waits for its slot and next to none is left out, also after the program has stumbled",
        arguments: [30, 60, 144],
        [16, 64, 200] as [UInt64]
    )
    func refreshes(fps: Int, part: UInt64) {
        let interval = Self.seconds / UInt64(fps)
        let refresh = (interval + interval / part) / 2
        var (waiting, all) = (0, 0)
        for phase in 0..<40 as Range<UInt64> {
            var generator = SeededGenerator(seed: phase)
            var session = SimulatedSession<SessionPacer<Int>>(
                pacer: SessionPacer(fps: fps, repeats: true),
                encoder: SimulatedEncoder(time: interval / 8...interval / 8)
            )
            let start = Self.seconds + interval * phase / 40
            // From that frame on, it draws earlier by this time.
            let stumbles = (0..<4).map { _ in
                (
                    frame: UInt64.random(in: 1..<10 * UInt64(fps), using: &generator),
                    by: UInt64.random(in: 0...interval, using: &generator)
                )
            }
            let arrivals = (0..<UInt64(40 * fps)).map { frame in
                let ahead = stumbles.reduce(0) { $1.frame <= frame ? ($0 + $1.by) % interval : $0 }
                let drawn = start + frame * interval - ahead + .random(in: 0...interval / 64, using: &generator)
                return (drawn + refresh - 1) / refresh * refresh
            }
            for (frame, arrival) in arrivals.enumerated() { session.offer(frame, at: arrival) }
            let late = session.outputs.filter { $0.time > start + 25 * Self.seconds && $0.time < arrivals.last! }
            let ages = late.compactMap { output in output.frame.map { output.time - arrivals[$0] } }
            #expect(abs(ages.count - 15 * fps) <= 4, "phase \(phase)")
            waiting += ages.count { $0 > interval / 8 }
            all += ages.count
        }
        #expect(waiting * 100 <= all * 2, "\(waiting) of \(all)")
    }
}
