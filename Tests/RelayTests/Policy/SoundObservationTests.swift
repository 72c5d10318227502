import Media
import Relay
import Testing

@Suite("What a caller learns of sound")
struct SoundObservationTests {
    private static let loud = SoundLevel(decibels: -20)
    private static let quiet = SoundLevel(decibels: -60)
    private static let threshold = SoundLevel(decibels: -50)

    /// A packet's duration, µs.
    private static let packet: Int64 = 20_000

    /// Observes packets of 20 ms from 0 on. `nil` stands for one that does not come, because it is silent. The last one
    /// before silence, and before the end, tells it.
    private static func observe(_ goal: SoundObservation.Goal, _ levels: [SoundLevel?]) -> SoundObservation {
        var observation = SoundObservation(goal)
        observation.listens(true, now: 0)
        for (index, level) in levels.enumerated() {
            guard let level else { continue }
            let isLast = index + 1 == levels.count || levels[index + 1] == nil
            observation.heard(
                level,
                from: Int64(index) * packet,
                to: Int64(index + 1) * packet,
                tellsSilence: isLast
            )
        }
        return observation
    }

    @Test("sound begins with the first loud packet, and must last without a break")
    func sound() {
        let (loud, quiet) = (Self.loud, Self.quiet)
        func verdict(_ lasting: Int64, _ levels: [SoundLevel?]) -> SoundObservation.Verdict {
            Self.observe(.sound(threshold: Self.threshold, lasting: lasting), levels).verdict(now: 0)
        }
        #expect(verdict(0, []) == .open)
        #expect(verdict(0, [quiet, quiet]) == .open)
        #expect(verdict(0, [quiet, loud, quiet]) == .reached(since: 20_000))
        #expect(verdict(60_000, [loud, loud]) == .open)
        #expect(verdict(60_000, [loud, loud, quiet, loud, loud]) == .open)
        #expect(verdict(60_000, [loud, loud, nil, loud, loud]) == .open)
        #expect(verdict(60_000, [nil, loud, nil, loud, loud, loud, quiet]) == .reached(since: 60_000))
    }

    @Test("silence begins with the call or after the last loud packet, and packets may come late")
    func silence() {
        let goal = SoundObservation.Goal.silence(threshold: Self.threshold, lasting: 1_000_000)
        let due = 1_000_000 + SoundObservation.grace
        #expect(SoundObservation(goal).verdict(now: 10_000_000) == .open, "nobody listens")
        let silent = Self.observe(goal, [Self.quiet, nil])
        #expect(silent.verdict(now: due - 1) == .due(due))
        #expect(silent.verdict(now: due) == .reached(since: 0))
        let after = Self.observe(goal, [Self.loud, Self.loud, Self.quiet])
        #expect(after.verdict(now: due) == .due(due + 40_000))
        #expect(after.verdict(now: due + 40_000) == .reached(since: 40_000))
    }

    @Test("a silence between two sounds counts if it is long enough, also if it is known only later")
    func pause() {
        let goal = SoundObservation.Goal.silence(threshold: Self.threshold, lasting: 300_000)
        let loud = Self.loud as SoundLevel?
        let long = Self.observe(goal, [loud] + Array(repeating: nil, count: 15) + [loud, loud])
        #expect(long.verdict(now: 320_000 + SoundObservation.grace) == .reached(since: 20_000))
        let short = Self.observe(goal, [loud] + Array(repeating: nil, count: 14) + [loud])
        #expect(short.verdict(now: 320_000) == .due(620_000 + SoundObservation.grace))
        // A quiet sound is known to the end of its packets.
        let quiet = Self.observe(goal, [loud] + Array(repeating: Self.quiet, count: 15) + [loud])
        #expect(quiet.verdict(now: 340_000 + SoundObservation.grace) == .reached(since: 20_000))
    }

    @Test("late packets do not count as silence")
    func stall() {
        let lasting: Int64 = 100_000
        let goals: [SoundObservation.Goal] = [
            .silence(threshold: Self.threshold, lasting: lasting), .level(lasting: lasting),
        ]
        for goal in goals {
            var observation = SoundObservation(goal)
            observation.listens(true, now: 0)
            observation.heard(Self.quiet, from: 0, to: 20_000, tellsSilence: false)
            #expect(observation.verdict(now: 60_000_000) == .open)
            observation.heard(Self.quiet, from: 20_000, to: 120_000, tellsSilence: false)
            #expect(observation.verdict(now: 60_000_000) == .reached(since: 0))
        }
    }

    @Test("all begins anew if nobody captures, unless the goal is reached")
    func deaf() {
        var observation = Self.observe(.silence(threshold: Self.threshold, lasting: 1_000_000), [])
        observation.listens(false, now: 900_000)
        #expect(observation.verdict(now: 10_000_000) == .open)
        observation.listens(true, now: 2_000_000)
        let due = 3_000_000 + SoundObservation.grace
        #expect(observation.verdict(now: 2_500_000) == .due(due))
        observation.listens(false, now: due)
        #expect(observation.verdict(now: due) == .reached(since: 2_000_000))
    }

    @Test("the level is the mean of the power, and silence counts")
    func level() {
        let goal = SoundObservation.Goal.level(lasting: 100_000)
        #expect(Self.observe(goal, []).level == nil)
        let half = Self.observe(goal, [nil, Self.loud, Self.loud, Self.loud, nil, Self.loud, Self.loud])
        // Packets after the time do not count.
        let expected = -20 - 2.2185
        #expect(abs((half.level?.decibels ?? 0) - expected) < 0.001, "\(String(describing: half.level))")
        #expect(half.loudest == Self.loud)
        #expect(half.verdict(now: 100_000 + SoundObservation.grace) == .reached(since: 0))
    }

    @Test("an unknown level counts as loud")
    func unknown() {
        var observation = SoundObservation(.sound(threshold: Self.threshold, lasting: 0))
        observation.heard(nil, from: 5, to: 6, tellsSilence: false)
        #expect(observation.verdict(now: 6) == .reached(since: 5))
    }
}
