import Media
import Pacing
import PacingSimulation
import TestSupport
import Testing

/// The properties of docs/design/pacing.md, each tested with thousands of random sources, encoders and threads.
@Suite("A session's pace, at random")
struct PacingPropertyTests {
    private typealias Session = SimulatedSession<SessionPacer<Int>>

    private static let rates = [1, 5, 10, 24, 25, 30, 50, 60, 90, 144, 240]
    private static let seconds: UInt64 = 1_000_000_000

    private static func interval(_ fps: Int) -> UInt64 { seconds / UInt64(fps) }

    /// A repeating session whose encodes take an eighth of an interval.
    private static func session(fps: Int) -> Session {
        let time = interval(fps) / 8
        return Session(pacer: SessionPacer(fps: fps, repeats: true), encoder: SimulatedEncoder(time: time...time))
    }

    /// Offers all `arrivals`, numbered.
    private static func play(_ arrivals: [UInt64], in session: inout Session) {
        for (frame, arrival) in arrivals.enumerated() { session.offer(frame, at: arrival) }
    }

    /// A random encoder: idle, busy or failing.
    private static func encoder(fps: Int, using generator: inout SeededGenerator) -> SimulatedEncoder {
        let interval = interval(fps)
        return SimulatedEncoder(
            time: 0...UInt64.random(in: 0...interval * 3 / 2, using: &generator),
            hiccup: 0...interval * 20,
            hiccups: [0, 0.01, 0.1].randomElement(using: &generator) ?? 0,
            failures: [0, 0.05, 0.5].randomElement(using: &generator) ?? 0,
            seed: generator.next()
        )
    }

    @Test(
        "whatever source, encoder, thread and viewers do, no window holds more than a picture beyond the rate, PTS increase, and all is counted",
        arguments: 0..<20,
        [nil, 2, 50]
    )
    func anything(batch: UInt64, framesPerDemand: Int?) {
        var generator = SeededGenerator(seed: batch)
        for _ in 0..<100 {
            let fps = Self.rates.randomElement(using: &generator) ?? 30
            let repeats = Bool.random(using: &generator)
            var session = Session(
                pacer: SessionPacer(fps: fps, repeats: repeats),
                encoder: Self.encoder(fps: fps, using: &generator),
                delay: 0...([0, 100_000, 20_000_000].randomElement(using: &generator) ?? 0),
                seed: generator.next()
            )
            let arrivals = Arrivals.mixed(duration: 6 * Self.seconds, using: &generator)
            var addsUp = true
            for (frame, arrival) in arrivals.enumerated() {
                session.offer(frame, at: arrival)
                addsUp = addsUp && session.pacer.counters.addsUp
                guard let framesPerDemand, Int.random(in: 0..<framesPerDemand, using: &generator) == 0 else { continue }
                session.demandKeyframe(at: session.now + .random(in: 0...Self.interval(fps), using: &generator))
            }
            session.run(until: session.now + 2 * Self.seconds)
            let cadence = Cadence(session.outputs, fps: fps)
            #expect(addsUp && session.pacer.counters.addsUp)
            #expect(cadence.slotsIncrease)
            #expect(cadence.keepsSlots)
            #expect(cadence.lead <= 1)
            #expect(repeats ? cadence.countsEverySlot : session.pacer.counters.missed == 0)
        }
    }

    @Test(
        "while the encoder keeps up, a session that repeats holds its rate to the picture, whatever the source does",
        arguments: 0..<20
    )
    func holdsRate(batch: UInt64) {
        var generator = SeededGenerator(seed: 1_000 + batch)
        for _ in 0..<10 {
            let fps = Self.rates.randomElement(using: &generator) ?? 30
            var session = Session(
                pacer: SessionPacer(fps: fps, repeats: true),
                encoder: SimulatedEncoder(time: 0...Self.interval(fps) - 10, seed: generator.next())
            )
            Self.play(Arrivals.mixed(duration: 25 * Self.seconds, using: &generator), in: &session)
            session.run(until: session.now + 5 * Self.seconds)
            let cadence = Cadence(session.outputs, fps: fps)
            #expect(session.pacer.counters.missed == 0)
            #expect(cadence.lag <= 1.25)
            // Fewer than one in a hundred at 10 fps and above.
            let range = cadence.range(inWindowsOf: 10 * Self.seconds)
            #expect(range.map { $0.lowerBound >= 10 * fps - 1 && $0.upperBound <= 10 * fps + 1 } ?? false)
        }
    }

    @Test(
        "jitter of up to a quarter of an interval around the rate costs no frame, for every phase of the first",
        arguments: rates
    )
    func jitter(fps: Int) {
        var generator = SeededGenerator(seed: UInt64(fps))
        let jitter = Self.interval(fps) / 4 - 2
        for phase in 0...20 as ClosedRange<UInt64> {
            for encode in [0, Self.interval(fps) / 8, Self.interval(fps) / 2] {
                var arrivals = Arrivals.steady(
                    rate: UInt64(fps),
                    jitter: jitter,
                    start: 0,
                    duration: 60 * Self.seconds / UInt64(fps) + Self.seconds,
                    using: &generator
                )
                arrivals[0] = 2 * jitter * phase / 20
                var session = Session(
                    pacer: SessionPacer(fps: fps, repeats: true),
                    encoder: SimulatedEncoder(time: 0...encode)
                )
                Self.play(arrivals, in: &session)
                session.run(until: session.now + Self.interval(fps) * 9 / 8)
                #expect(session.outputs.compactMap(\.frame) == Array(arrivals.indices))
                #expect(session.outputs.dropLast().allSatisfy { $0.frame != nil })
            }
        }
    }

    @Test("of twice the rate every other frame is shown, evenly", arguments: [10, 24, 25, 30, 48, 60])
    func twiceTheRate(fps: Int) {
        var generator = SeededGenerator(seed: UInt64(fps))
        var (gaps, uneven) = (0, 0)
        for _ in 0..<50 {
            let arrivals = Arrivals.steady(
                rate: 2 * UInt64(fps),
                jitter: 2_000_000,
                start: 0,
                duration: 20 * Self.seconds,
                using: &generator
            )
            var session = Session(pacer: SessionPacer(fps: fps, repeats: true))
            Self.play(arrivals, in: &session)
            let times = session.outputs.map { Int64($0.time) }
            let interval = Int64(Self.interval(fps))
            gaps += times.count - 1
            uneven += zip(times, times.dropFirst()).count { abs($1 - $0 - interval) > interval / 4 }
        }
        #expect(uneven * 100 < gaps)
    }

    @Test(
        "the last frame leaves within 9/8 of an interval, or when the encode that runs when it comes has ended",
        arguments: 0..<20
    )
    func lastFrame(batch: UInt64) {
        var generator = SeededGenerator(seed: 2_000 + batch)
        for _ in 0..<100 {
            let fps = Self.rates.randomElement(using: &generator) ?? 30
            var session = Session(
                pacer: SessionPacer(fps: fps, repeats: .random(using: &generator)),
                encoder: Self.encoder(fps: fps, using: &generator)
            )
            let arrivals = Arrivals.mixed(duration: 3 * Self.seconds, using: &generator)
            guard let last = arrivals.last else { continue }
            Self.play(arrivals, in: &session)
            let latest = max(last + Self.interval(fps) * 9 / 8 + 2, session.encodeEnd ?? 0)
            session.run(until: latest)
            #expect(session.outputs.last { $0.frame != nil }?.frame == arrivals.count - 1)
        }
    }

    @Test("after a stall of the encoder the source's next frames come no faster than the rate", arguments: rates)
    func stall(fps: Int) {
        let interval = Self.interval(fps)
        for repeats in [false, true] {
            var session = Session(
                pacer: SessionPacer(fps: fps, repeats: repeats),
                encoder: SimulatedEncoder(time: 0...0)
            )
            // Frames at eight times the rate; the encode of the 11th picture takes ten intervals.
            for frame in 0..<400 as Range<UInt64> {
                let time = session.outputs.count == 10 ? 10 * interval : 0
                session.encoder = SimulatedEncoder(time: time...time)
                session.offer(Int(frame), at: frame * interval / 8)
            }
            let times = session.outputs.map(\.time)
            let stalled = 10
            // Lost pictures are not made up for.
            #expect(times[stalled + 1] >= times[stalled] + 10 * interval)
            #expect(times[stalled + 3] >= times[stalled + 1] + interval)
            #expect(Cadence(session.outputs, fps: fps).lead <= 1)
            #expect(repeats ? (8...9).contains(session.pacer.counters.missed) : session.pacer.counters.missed == 0)
        }
    }

    @Test(
        "through changes of the rate PTS increase, and each rate has its slots for as long as it is in force",
        arguments: 0..<20
    )
    func rateChanges(batch: UInt64) {
        var generator = SeededGenerator(seed: 3_000 + batch)
        for _ in 0..<20 {
            var fps = 30
            var session = Session(
                pacer: SessionPacer(fps: fps, repeats: true),
                encoder: SimulatedEncoder(
                    time: 0...4_000_000,
                    hiccup: 0...300_000_000,
                    hiccups: 0.02,
                    seed: generator.next()
                )
            )
            var (slots, changes, time) = (0.0, 0, UInt64(0))
            let arrivals = Arrivals.mixed(duration: 10 * Self.seconds, using: &generator)
            for (frame, arrival) in arrivals.enumerated() {
                session.offer(frame, at: arrival)
                guard frame == 0 || Int.random(in: 0..<50, using: &generator) == 0 else { continue }
                // A picture may have left ahead of its slot, which then gets no second one.
                let change = max(session.now, session.outputs.last?.slot ?? 0)
                if frame > 0 { slots += Double(change - time) * Double(fps) / 1e9 }
                time = change
                fps = Self.rates.randomElement(using: &generator) ?? 30
                session.pacer.changeRate(fps: fps, at: session.now)
                session.wake(at: session.now)
                changes += 1
            }
            session.encoder = SimulatedEncoder(time: 0...0)
            session.run(until: session.now + 3 * Self.seconds)
            slots += Double(session.now - time) * Double(fps) / 1e9
            let counters = session.pacer.counters
            #expect(counters.addsUp)
            #expect(Cadence(session.outputs, fps: fps).slotsIncrease)
            // Each change may place its slots anywhere between two slots of the former rate.
            #expect(abs(Double(counters.pictures + counters.missed) - slots) <= Double(changes) + 2)
        }
    }

    @Test(
        "who waits for a keyframe of a screen that moves gets it with the encode that runs, and the slots stay with the frames",
        arguments: [24, 30, 60],
        [1, 2]
    )
    func demands(fps: Int, framesPerSlot: UInt64) {
        let interval = Self.interval(fps)
        for phase in 0..<40 as Range<UInt64> {
            var generator = SeededGenerator(seed: phase)
            let encode = interval / 8
            var session = Self.session(fps: fps)
            let arrivals = Arrivals.steady(
                rate: UInt64(fps) * framesPerSlot,
                jitter: interval / 32,
                start: Self.seconds,
                duration: 5 * Self.seconds,
                using: &generator
            )
            var demands: [UInt64] = []
            session.begin(0, arrival: arrivals[0], at: arrivals[0] + interval / framesPerSlot * phase / 42)
            for (frame, arrival) in arrivals.enumerated().dropFirst() {
                session.offer(frame, at: arrival)
                // They are at least half a second apart, and come after the slots have aligned with the frames.
                guard frame % fps == fps / 2, frame > fps else { continue }
                let time = arrival + .random(in: 0...interval * 3 / 4 / framesPerSlot, using: &generator)
                session.demandKeyframe(at: time)
                demands.append(time)
            }
            let answers = session.outputs.filter(\.isDemanded)
            #expect(answers.count == demands.count)
            // The first picture and early frames may have used a part of the slack.
            #expect(zip(demands, answers).allSatisfy { $1.time <= $0 + encode + interval * 3 / 8 })
            let late = session.outputs.filter { $0.time > 2 * Self.seconds }
            // One frame makes room for each keyframe.
            #expect(abs(late.count { $0.frame != nil } - 4 * fps) <= demands.count + 2)
            #expect(abs(late.count - 4 * fps) <= 2)
            let ages = late.filter { !$0.isDemanded }.compactMap { output in
                output.frame.map { output.time - arrivals[$0] }
            }
            #expect(ages.allSatisfy { $0 <= interval / 8 }, "phase \(phase)")
        }
    }

    @Test(
        "slots move to the frames of a source of their rate, whenever the session begins: then none waits longer than an eighth of an interval, and none is repeated"
    )
    func alignment() {
        var (none, all) = (0, 0)
        for fps in [10, 24, 30, 60, 144] {
            let interval = Self.interval(fps)
            for phase in 0..<40 {
                var generator = SeededGenerator(seed: UInt64(fps * 100 + phase))
                var session = Self.session(fps: fps)
                // The session begins with a frame that arrived earlier by a random time.
                let start = Self.seconds + interval * UInt64(phase) / 40
                let arrivals =
                    [Self.seconds]
                    + (1...(5 * fps)).map { frame in
                        start + UInt64(frame) * interval - UInt64.random(in: 0...interval / 16, using: &generator)
                    }
                Self.play(arrivals, in: &session)
                let late = session.outputs.filter { $0.time > start + 10 * interval }
                #expect(late.count >= 5 * fps - 11)
                let ages = late.map { output in output.frame.map { output.time - arrivals[$0] } }
                #expect(ages.allSatisfy { $0.map { $0 <= interval / 8 } ?? false }, "\(fps), phase \(phase)")
                none += ages.count { $0 == 0 }
                all += ages.count
            }
        }
        // Most do not wait at all.
        #expect(none * 10 > all * 9)
    }

    @Test(
        "of a source that is a little faster than the slots no frame waits for longer than half an interval, and each slot shows another",
        arguments: [64, 24, 12] as [UInt64]
    )
    func slightlyFaster(part: UInt64) {
        for fps in [10, 24, 30, 60, 144] {
            let interval = Self.interval(fps)
            for phase in 0..<40 as Range<UInt64> {
                var session = Self.session(fps: fps)
                let start = Self.seconds + interval * phase / 40
                let gap = interval - interval / part
                let arrivals = [Self.seconds] + (1...UInt64(10 * fps)).map { start + $0 * gap }
                Self.play(arrivals, in: &session)
                let late = session.outputs.filter { $0.time > start + 20 * interval && $0.time < arrivals.last! }
                let ages = late.map { output in output.frame.map { output.time - arrivals[$0] } }
                #expect(ages.allSatisfy { $0.map { $0 <= interval / 2 } ?? false }, "\(fps), phase \(phase)")
                // In half of the cases the slots are later than the frames.
                #expect(ages.count { $0 == 0 } * 10 > ages.count * 3, "\(fps), phase \(phase)")
            }
        }
    }

    @Test(
        "a frame too many now and then, of a source of the session's rate, costs one frame each, and soon none waits any more"
    )
    func extraFrames() {
        for fps in [10, 24, 30, 60, 144] {
            let interval = Self.interval(fps)
            for seed in 0..<40 as Range<UInt64> {
                var generator = SeededGenerator(seed: seed)
                var session = Self.session(fps: fps)
                // Ten times 80 frames, the first of each a part of an interval after the last.
                var (arrivals, settled, time): ([UInt64], [Int], UInt64) = ([], [], Self.seconds)
                for _ in 0..<10 {
                    settled += arrivals.count + 36..<arrivals.count + 80
                    arrivals += (0..<80 as Range<UInt64>).map { time + $0 * interval }
                    time += 79 * interval + .random(in: interval / 4...interval * 3 / 4, using: &generator)
                }
                Self.play(arrivals, in: &session)
                session.run(until: session.now + interval / 16)
                let shown = session.outputs.compactMap(\.frame)
                let leftOut = Set(arrivals.indices).subtracting(shown)
                #expect(leftOut.count <= 9)
                #expect(leftOut.isDisjoint(with: settled), "\(fps), seed \(seed)")
                #expect(session.outputs.count { $0.frame == nil } == 0)
                let ages = session.outputs.map { $0.time - arrivals[$0.frame ?? 0] }
                let areSoon = zip(shown, ages).allSatisfy { !settled.contains($0) || $1 <= interval / 16 }
                #expect(areSoon, "\(fps), seed \(seed)")
            }
        }
    }

    @Test(
        "of a source that is a little slower than the slots every frame is shown, and only the slots that it leaves are repeated",
        arguments: [1_000, 200, 100, 40] as [UInt64]
    )
    func slightlySlower(part: UInt64) {
        for fps in [10, 30, 60, 144] {
            let interval = Self.interval(fps)
            for phase in 0..<10 as Range<UInt64> {
                var session = Self.session(fps: fps)
                let start = Self.seconds + interval * phase / 10
                let gap = interval + interval / part
                let arrivals = [Self.seconds] + (1...3 * part).map { start + $0 * gap }
                Self.play(arrivals, in: &session)
                session.run(until: session.now + interval / 4)
                #expect(session.outputs.compactMap(\.frame) == Array(arrivals.indices), "\(fps), phase \(phase)")
                #expect(session.outputs.count { $0.frame == nil } <= 4, "\(fps), phase \(phase)")
            }
        }
    }

    @Test("if frames make room repeatedly, the rate is at most 1 % lower")
    func makingRoom() {
        for fps in [30, 60] {
            let interval = Self.interval(fps)
            var (arrivals, time): ([UInt64], UInt64) = ([], Self.seconds)
            for _ in 0..<40 {
                for hundredths in [124, 40, 53] + Array(repeating: 100, count: 32) as [UInt64] {
                    time += interval * hundredths / 100
                    arrivals.append(time)
                }
            }
            var session = Self.session(fps: fps)
            Self.play(arrivals, in: &session)
            // Otherwise this case tests nothing.
            #expect(session.pacer.counters.gated >= 40)
            let range = Cadence(session.outputs, fps: fps).range(inWindowsOf: 10 * Self.seconds)
            #expect(range.map { $0.lowerBound * 100 >= 10 * fps * 99 } ?? false)
        }
    }
}
