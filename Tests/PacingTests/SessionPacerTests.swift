import Media
import Pacing
import TestSupport
import Testing

@Suite("A session's pace")
struct SessionPacerTests {
    @Test("the first frame leaves at once")
    func firstFrame() {
        var pacer = SessionPacer<Int>(fps: 30, repeats: true)
        let displaced = pacer.offer(1, at: 500)
        #expect(displaced == nil)
        guard case .encode(1, slot: 500) = pacer.next(at: 500) else {
            Issue.record("the first frame has to leave when it arrives")
            return
        }
    }

    @Test("a frame that comes early is delayed, not lost")
    func earlyFrame() {
        var pacer = PacedRun(fps: 10, repeats: true)
        pacer.offer(1, at: 0)
        pacer.offer(2, at: 30_000_000)
        pacer.run(until: 400_000_000)
        // Due at 100 ms, ready an eighth of an interval later. Repeats come half an interval after their slots.
        #expect(pacer.outputs.map(\.frame) == [1, 2, nil, nil])
        #expect(pacer.outputs.map(\.time) == [0, 112_500_000, 250_000_000, 350_000_000])
        #expect(pacer.outputs.map(\.slot) == [0, 100_000_000, 200_000_000, 300_000_000])
    }

    @Test("of two frames before a slot the newer is shown and the older counted as gated")
    func gated() {
        var pacer = PacedRun(fps: 10, repeats: false)
        pacer.offer(1, at: 0)
        pacer.offer(2, at: 30_000_000)
        pacer.offer(3, at: 80_000_000)
        pacer.run(until: 1_000_000_000)
        #expect(pacer.outputs.map(\.frame) == [1, 3])
        #expect(pacer.counters.gated == 1)
        #expect(pacer.counters.latchedOver == 0)
    }

    @Test("of two frames during an encode the newer is shown and the older counted as latched over")
    func latchedOver() {
        var pacer = PacedRun(fps: 10, repeats: false, encodeTime: 500_000_000)
        pacer.offer(1, at: 0)
        pacer.offer(2, at: 200_000_000)
        pacer.offer(3, at: 300_000_000)
        pacer.run(until: 2_000_000_000)
        #expect(pacer.outputs.map(\.frame) == [1, 3])
        #expect(pacer.counters.latchedOver == 1)
    }

    @Test("slots that pass during an encode are forfeited and counted")
    func missed() {
        var pacer = PacedRun(fps: 10, repeats: true, encodeTime: 10_000_000)
        pacer.offer(1, at: 0)
        pacer.run(until: 100_000_000)
        pacer.encodeTime = 360_000_000
        pacer.run(until: 700_000_000)
        // The repeat at 150 ms keeps the encoder busy until 510 ms: those at 250, 350 and 450 ms cannot leave.
        #expect(pacer.outputs.map(\.time) == [0, 150_000_000, 550_000_000])
        #expect(pacer.counters.missed == 3)
    }

    @Test("a picture that somebody waits for comes once more even where repeats are off, in its slot")
    func demanded() {
        var pacer = SessionPacer<Int>(fps: 10, repeats: false)
        _ = pacer.offer(1, at: 0)
        _ = pacer.next(at: 0)
        pacer.finish(.encoded(byteCount: 1, isKeyframe: true), started: 0, at: 5_000_000)
        guard case .wait(until: nil) = pacer.next(at: 6_000_000) else {
            Issue.record("nobody waits for anything")
            return
        }
        guard case .wait(until: 100_000_000) = pacer.next(at: 7_000_000, demandTime: 0) else {
            Issue.record("the slot is due at 100 ms")
            return
        }
        guard case .repeat(slot: 100_000_000) = pacer.next(at: 100_000_000, demandTime: 0) else {
            Issue.record("the last picture is wanted")
            return
        }
    }

    /// Arrival processes: source rate, target rate, jitter in ms, encode time in ms.
    private static let processes: [(source: Double, fps: Int, jitter: Double, encode: Double)] = [
        (30, 30, 2, 4), (30, 30, 8, 4), (60, 60, 4, 4), (60, 30, 2, 4), (60, 30, 8, 12), (56, 30, 3, 4),
        (42, 30, 8, 4), (24, 30, 4, 4), (144, 60, 3, 4), (60, 60, 8, 30), (10, 240, 1, 2), (60, 1, 5, 4),
    ]

    @Test("any arrival process keeps the invariants", arguments: 0..<processes.count, 0..<10)
    func invariants(process: Int, seed: UInt64) {
        let (source, fps, jitter, encode) = Self.processes[process]
        var generator = SeededGenerator(seed: seed)
        let seconds = 20.0
        var run = PacedRun(fps: fps, repeats: true, encodeTime: UInt64(encode * 1e6))
        let arrivals = (0..<Int(source * seconds)).map { number in
            max(0, Double(number) / source * 1e9 + Double.random(in: -jitter...jitter, using: &generator) * 1e6)
        }.sorted()
        for (number, arrival) in arrivals.enumerated() {
            run.run(until: UInt64(arrival))
            run.offer(number, at: UInt64(arrival))
            let counters = run.counters
            #expect(
                counters.received
                    == counters.encodedLive + counters.gated + counters.latchedOver + counters.poolDrops
                    + counters.errors + counters.held
            )
            #expect(counters.held <= 2)
        }
        let interval = 1e9 / Double(fps)
        run.run(until: UInt64(arrivals.last! + 1.125 * interval + 2 * encode * 1e6 + 2))
        // The last frame that the source delivered is out.
        #expect(run.outputs.last { $0.frame != nil }?.frame == arrivals.count - 1)
        #expect(run.pictureTimesAreIncreasing)
        // No window of a second holds more pictures than slots, and one of slack.
        let times = run.outputs.map(\.time)
        var first = 0
        for (index, time) in times.enumerated() {
            while time - times[first] >= 1_000_000_000 { first += 1 }
            #expect(index - first + 1 <= fps + 1)
        }
    }

    @Test(
        "changes of the rate keep the order of slots, and no second holds more pictures than the fastest rate in it",
        arguments: 0..<20
    )
    func rateChanges(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var run = PacedRun(fps: 30, repeats: true)
        var changes: [(time: UInt64, fps: Int)] = [(0, 30)]
        var time: UInt64 = 0
        for number in 0..<1_000 {
            time += .random(in: 1_000_000...40_000_000, using: &generator)
            run.offer(number, at: time)
            if number % 50 == 49 {
                let fps = [1, 5, 24, 30, 60, 240].randomElement(using: &generator) ?? 30
                run.changeRate(fps: fps)
                changes.append((run.now, fps))
            }
        }
        #expect(run.pictureTimesAreIncreasing)
        #expect(run.counters.held <= 2)
        let times = run.outputs.map(\.time)
        var first = 0
        for (index, time) in times.enumerated() {
            while time - times[first] >= 1_000_000_000 { first += 1 }
            // The rates from the one at the window's begin on.
            let before = changes.lastIndex { $0.time <= times[first] } ?? 0
            let during = changes[before...].prefix { $0.time <= time }
            #expect(index - first + 1 <= (during.map(\.fps).max() ?? 30) + during.count)
        }
    }
}

/// Drives a pacer as an encoder thread does, on a clock of its own.
private struct PacedRun {
    struct Output {
        /// Nil for a repeat.
        var frame: Int?
        /// When it left, ns.
        var time: UInt64
        /// Its slot, ns.
        var slot: UInt64
    }

    private var pacer: SessionPacer<Int>
    private(set) var now: UInt64 = 0
    private var busyUntil: UInt64?
    private var started: UInt64 = 0
    var encodeTime: UInt64
    private(set) var outputs: [Output] = []

    init(fps: Int, repeats: Bool, encodeTime: UInt64 = 4_000_000) {
        pacer = SessionPacer(fps: fps, repeats: repeats)
        self.encodeTime = encodeTime
    }

    var counters: SessionCounters { pacer.counters }

    var pictureTimesAreIncreasing: Bool { zip(outputs, outputs.dropFirst()).allSatisfy { $0.slot < $1.slot } }

    mutating func offer(_ frame: Int, at time: UInt64) {
        if time > now { run(until: time) }
        _ = pacer.offer(frame, at: max(now, time))
    }

    mutating func changeRate(fps: Int) {
        pacer.changeRate(fps: fps, at: now)
    }

    /// Lets time pass.
    mutating func run(until end: UInt64) {
        while true {
            if let busyUntil {
                guard busyUntil <= end else { break }
                now = max(now, busyUntil)
                self.busyUntil = nil
                pacer.finish(.encoded(byteCount: 1, isKeyframe: false), started: started, at: now)
            }
            switch pacer.next(at: now) {
            case .encode(let frame, let slot): begin(Output(frame: frame, time: now, slot: slot))
            case .repeat(let slot): begin(Output(frame: nil, time: now, slot: slot))
            case .wait(let until):
                guard let until, until <= end else {
                    now = max(now, end)
                    return
                }
                now = max(now, until)
            }
        }
        now = max(now, end)
    }

    private mutating func begin(_ output: Output) {
        outputs.append(output)
        started = now
        busyUntil = now + encodeTime
    }
}
