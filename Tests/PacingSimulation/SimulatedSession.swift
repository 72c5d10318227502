import Pacing
import TestSupport

/// Drives a pacer like an encoder thread, on a simulated clock. Times are in ns.
package struct SimulatedSession<Pacer: SimulatedPacer> {
    /// A picture that went to the encoder.
    package struct Output {
        /// The frame's number; `nil` for a repeat.
        package var frame: Int?
        /// When it left for the encoder.
        package var time: UInt64
        /// Its slot.
        package var slot: UInt64
        /// The number of slots missed by then.
        package var missed: UInt64
        /// Whether a viewer waited for it.
        package var isDemanded: Bool
        /// Whether encoding it succeeded.
        package var isPicture: Bool
    }

    private struct Encode {
        var started: UInt64
        var ended: UInt64
        var outcome: PictureOutcome
    }

    package var pacer: Pacer
    package var encoder: SimulatedEncoder
    /// How late the encoder's thread wakes.
    private let delay: ClosedRange<UInt64>
    private var generator: SeededGenerator
    package private(set) var now: UInt64 = 0
    package private(set) var outputs: [Output] = []
    /// The time from which a keyframe is wanted; `nil` if none is wanted.
    private var demandTime: UInt64?
    private var encode: Encode?
    private var wakeTime: UInt64?

    package init(
        pacer: Pacer,
        encoder: SimulatedEncoder = SimulatedEncoder(time: 4_000_000...4_000_000),
        delay: ClosedRange<UInt64> = 0...0,
        seed: UInt64 = 0
    ) {
        self.pacer = pacer
        self.encoder = encoder
        self.delay = delay
        generator = SeededGenerator(seed: seed)
    }

    /// When the running encode ends; `nil` if none is running.
    package var encodeEnd: UInt64? { encode?.ended }

    /// Begins at `time` with a frame that arrived at `arrival` or earlier.
    package mutating func begin(_ frame: Int, arrival: UInt64, at time: UInt64) {
        run(until: time)
        _ = pacer.offer(frame, at: arrival)
        wake(at: now)
        run(until: now)
    }

    /// Offers a frame at `time`, or now if that is in the past.
    package mutating func offer(_ frame: Int, at time: UInt64) {
        run(until: time)
        _ = pacer.offer(frame, at: now)
        wake(at: now)
        run(until: now)
    }

    /// Asks for a keyframe from `time` on, or from now on if that is in the past.
    package mutating func demandKeyframe(at time: UInt64) {
        run(until: time)
        demandTime = demandTime ?? now
        wake(at: now)
        run(until: now)
    }

    /// Lets time pass.
    package mutating func run(until end: UInt64) {
        while let time = encode?.ended ?? wakeTime, time <= end {
            now = max(now, time)
            if let encode {
                pacer.finish(encode.outcome, started: encode.started, at: now)
                self.encode = nil
            }
            wakeTime = nil
            decide()
        }
        now = max(now, end)
    }

    /// Records a change that wakes the encoder's thread, unless it is busy.
    package mutating func wake(at time: UInt64) {
        guard encode == nil else { return }
        wakeTime = min(wakeTime ?? .max, time + delay.randomElement(using: &generator))
    }

    private mutating func decide() {
        switch pacer.next(at: now, demandTime: demandTime) {
        case .encode(let frame, let slot): begin(frame, slot: slot)
        case .repeat(let slot): begin(nil, slot: slot)
        case .wait(let until?): wake(at: until)
        case .wait(nil): break
        }
    }

    private mutating func begin(_ frame: Int?, slot: UInt64) {
        let (time, outcome) = encoder.encode()
        let isPicture =
            switch outcome {
            case .encoded, .refined, .skipped: true
            case .poolDrop, .failed: false
            }
        let isDemanded = demandTime.map { $0 <= slot } ?? false
        outputs.append(
            Output(
                frame: frame,
                time: now,
                slot: slot,
                missed: pacer.missed,
                isDemanded: isDemanded,
                isPicture: isPicture
            )
        )
        if isDemanded, isPicture { demandTime = nil }
        encode = Encode(started: now, ended: now + time, outcome: outcome)
    }
}
