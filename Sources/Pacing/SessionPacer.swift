package import Media

/// The next action of a session's encoder.
package enum PacingDecision<Frame: Sendable>: Sendable {
    /// Encode this frame as the picture of the slot at `slot` (monotonic ns).
    case encode(Frame, slot: UInt64)
    /// Output the last picture again for the slot at `slot` (monotonic ns).
    case `repeat`(slot: UInt64)
    /// Do nothing before `until` (monotonic ns) unless a frame arrives; `nil` means until a frame arrives.
    case wait(until: UInt64?)
}

/// The result of a decision to output a picture.
package enum PictureOutcome: Sendable {
    case encoded(byteCount: Int, isKeyframe: Bool)
    /// A repeat that the encoder made while the picture settled.
    case refined(byteCount: Int, isKeyframe: Bool)
    /// A repeat made without the encoder.
    case skipped(byteCount: Int, isKeyframe: Bool)
    case poolDrop
    case failed
}

/// Combines gate, latch and repeater into a session's cadence, and counts the results for every frame and slot.
///
/// It decides at three moments: a frame arrives (``offer(_:at:)``), the encoder becomes free
/// (``finish(_:started:at:)``), and a time is reached (``next(at:)``). Live pictures and repeats share one sequence of
/// slots, so their sum never exceeds the session's rate. The caller has one encoder: between a decision to output and
/// its `finish` it must not call `next`.
package struct SessionPacer<Frame: Sendable>: Sendable {
    private enum Encoder: Sendable {
        case free, busyLive, busyRepeat
    }

    private let start: UInt64
    private var gate: DueTimeGate
    private var clock: SlotClock
    private var latch = NewestSampleLatch<Frame>()
    private var repeater: StaticFrameRepeater
    private var encoder = Encoder.free
    private var tally = SessionCounters()

    /// - Parameters:
    ///   - fps: Slots per second, 1 to 240.
    ///   - repeats: Whether the last picture is output again while no frame comes.
    ///   - start: The earliest time of a slot, in monotonic ns.
    ///   - gate: Decides when frames are ready.
    package init(fps: Int, repeats: Bool, start: UInt64 = 0, gate: DueTimeGate = DueTimeGate()) {
        self.start = start
        self.gate = gate
        clock = SlotClock(fps: fps)
        repeater = StaticFrameRepeater(isOn: repeats)
    }

    package var counters: SessionCounters {
        var counters = tally
        counters.held = (latch.waiting == nil ? 0 : 1) + (encoder == .busyLive ? 1 : 0)
        return counters
    }

    /// Accepts a frame.
    ///
    /// - Parameter now: The time of arrival, in monotonic ns. May be in the past only for the session's first frame.
    /// - Returns: The frame that it replaces, for the caller to release.
    package mutating func offer(_ frame: Frame, at now: UInt64) -> Frame? {
        tally.received += 1
        let wasReady = latch.waiting.map { gate.readyTime(arrival: $0.arrival, clock: clock) <= now } ?? false
        gate.frameArrived(at: now, clock: clock)
        if let room = gate.room { clock.moveBack(to: room) }
        guard let displaced = latch.put(frame, at: now) else { return nil }
        if wasReady { tally.latchedOver += 1 } else { tally.gated += 1 }
        return displaced.sample
    }

    /// Returns when the free encoder next has work, judged at `now`; `nil` if not before a frame arrives.
    ///
    /// - Parameter demandTime: The time from which a keyframe is wanted; `nil` if none is wanted. The keyframe takes
    ///   the next slot, ahead of it if necessary. It is the waiting frame, or the last picture again, even if repeats
    ///   are off. Otherwise a viewer that joins a static screen would see nothing.
    package mutating func nextTime(at now: UInt64, demandTime: UInt64? = nil) -> UInt64? {
        let demanded = repeater.demandedTime(demandTime, clock: clock)
        if let waiting = latch.waiting {
            let ready = gate.readyTime(arrival: waiting.arrival, clock: clock)
            return min(ready, demanded ?? ready)
        }
        // A repeat that is too late for one slot waits for its time in the next.
        if repeater.fillsSlots { passOverSlots(at: now) }
        return repeater.repeatTime(clock: clock).map { min($0, demanded ?? $0) } ?? demanded
    }

    /// Returns the next action of the free encoder at `now`.
    ///
    /// - Parameter demandTime: As in ``nextTime(at:demandTime:)``.
    package mutating func next(at now: UInt64, demandTime: UInt64? = nil) -> PacingDecision<Frame> {
        let time = nextTime(at: now, demandTime: demandTime)
        guard let time, now >= time else { return .wait(until: time) }
        if let waiting = latch.take() {
            let ready = gate.readyTime(arrival: waiting.arrival, clock: clock)
            encoder = .busyLive
            return .encode(waiting.sample, slot: takeSlot(arrival: waiting.arrival, at: now, onDemand: now < ready))
        }
        encoder = .busyRepeat
        let isEarly = repeater.repeatTime(clock: clock).map { now < $0 } ?? true
        return .repeat(slot: takeSlot(arrival: now, at: now, onDemand: isEarly))
    }

    /// Takes the slot for a picture that leaves at `now`.
    private mutating func takeSlot(arrival: UInt64, at now: UInt64, onDemand: Bool) -> UInt64 {
        if clock.due == nil {
            clock.begin(inStepWith: arrival, at: now, from: start)
            return clock.takeSlot(at: now, onDemand: true)
        }
        // If nothing fills the slots of a static screen, they follow the frame.
        if !repeater.fillsSlots, clock.isOver(at: arrival) { clock.begin(at: arrival) }
        passOverSlots(at: now)
        return clock.takeSlot(at: now, onDemand: onDemand)
    }

    /// Passes over the slots that are too late for any picture.
    private mutating func passOverSlots(at now: UInt64) {
        let count = clock.passOver(at: now)
        if repeater.fillsSlots { tally.missed += count }
    }

    /// Records that the encoder, busy since `started`, became free at `now`.
    package mutating func finish(_ outcome: PictureOutcome, started: UInt64, at now: UInt64) {
        switch outcome {
        case .encoded(let byteCount, let isKeyframe):
            if encoder == .busyLive { tally.encodedLive += 1 } else { tally.reencodedRepeats += 1 }
            tally.encodeTimes.add(now - started)
            count(byteCount: byteCount, isKeyframe: isKeyframe)
        case .refined(let byteCount, let isKeyframe):
            tally.refined += 1
            tally.encodeTimes.add(now - started)
            count(byteCount: byteCount, isKeyframe: isKeyframe)
        case .skipped(let byteCount, let isKeyframe):
            tally.skipped += 1
            count(byteCount: byteCount, isKeyframe: isKeyframe)
        case .poolDrop:
            tally.poolDrops += encoder == .busyLive ? 1 : 0
            missSlot()
        case .failed:
            tally.errors += encoder == .busyLive ? 1 : 0
            // A failed frame is tried again as a repeat, because the change of the screen would otherwise stay
            // invisible.
            repeater.hasPicture = true
            missSlot()
        }
        encoder = .free
    }

    /// Records that a slot got no picture.
    private mutating func missSlot() {
        tally.missed += repeater.fillsSlots ? 1 : 0
    }

    private mutating func count(byteCount: Int, isKeyframe: Bool) {
        tally.bytes += UInt64(byteCount)
        tally.keyframes += isKeyframe ? 1 : 0
        repeater.hasPicture = true
    }

    /// The next slot and the rate, if the relay can fill all slots from it on; `nil` if slots stay empty or a frame is
    /// in hand.
    ///
    /// Do not ask for decisions until ``resume(slots:at:)``.
    package var slotsToFill: (first: UInt64, fps: Int)? {
        guard repeater.fillsSlots, latch.waiting == nil, encoder == .free, let due = clock.due else { return nil }
        return (due, Int(clock.fps))
    }

    /// Continues at `now` after the relay has filled or passed over `slots` slots.
    ///
    /// At most those slots count that may be over by then, the last one taken ahead of its time.
    ///
    /// - Returns: The last slot that is over.
    package mutating func resume(slots: UInt64, at now: UInt64) -> UInt64? {
        clock.skip(min(slots, clock.slots(dueBy: now + clock.interval())))
        return clock.last
    }

    /// Slots per second.
    package var fps: Int { Int(clock.fps) }

    /// Continues with another number of slots per second, 1 to 240.
    package mutating func changeRate(fps: Int, at now: UInt64) {
        // The slots of the former rate that are over count as missed.
        if repeater.fillsSlots { passOverSlots(at: now) }
        clock.changeRate(fps: fps, at: now)
        gate.rateChanged()
    }
}
