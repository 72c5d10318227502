import Media
import Pacing
import PacingSimulation
import Testing

@Suite("A session's pace")
struct SessionPacerTests {
    private static func session(fps: Int = 10, repeats: Bool, encode milliseconds: UInt64 = 4) -> SimulatedSession<
        SessionPacer<Int>
    > {
        SimulatedSession(pacer: SessionPacer(fps: fps, repeats: repeats), encoder: encoder(milliseconds))
    }

    private static func encoder(_ milliseconds: UInt64) -> SimulatedEncoder {
        SimulatedEncoder(time: milliseconds * 1_000_000...milliseconds * 1_000_000)
    }

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
        var session = Self.session(repeats: true)
        session.offer(1, at: 0)
        session.offer(2, at: 30_000_000)
        session.run(until: 400_000_000)
        // Due at 100 ms, ready an eighth of an interval later. Repeats come half an interval after their slots.
        #expect(session.outputs.map(\.frame) == [1, 2, nil, nil])
        #expect(session.outputs.map(\.time) == [0, 112_500_000, 250_000_000, 350_000_000])
        #expect(session.outputs.map(\.slot) == [0, 100_000_000, 200_000_000, 300_000_000])
    }

    @Test("of two frames before a slot the newer is shown and the older counted as gated")
    func gated() {
        var session = Self.session(repeats: false)
        session.offer(1, at: 0)
        session.offer(2, at: 30_000_000)
        session.offer(3, at: 80_000_000)
        session.run(until: 1_000_000_000)
        #expect(session.outputs.map(\.frame) == [1, 3])
        #expect(session.pacer.counters.gated == 1)
        #expect(session.pacer.counters.latchedOver == 0)
    }

    @Test("of two frames during an encode the newer is shown and the older counted as latched over")
    func latchedOver() {
        var session = Self.session(repeats: false, encode: 500)
        session.offer(1, at: 0)
        session.offer(2, at: 200_000_000)
        session.offer(3, at: 300_000_000)
        session.run(until: 2_000_000_000)
        #expect(session.outputs.map(\.frame) == [1, 3])
        #expect(session.pacer.counters.latchedOver == 1)
    }

    @Test("slots that pass during an encode are missed, and counted")
    func missed() {
        var session = Self.session(repeats: true, encode: 10)
        session.offer(1, at: 0)
        session.run(until: 100_000_000)
        session.encoder = Self.encoder(360)
        session.run(until: 700_000_000)
        // The repeat at 150 ms keeps the encoder busy until 510 ms. Those at 250, 350 and 450 ms cannot leave, and no
        // slot is made up for.
        #expect(session.outputs.map(\.time) == [0, 150_000_000, 550_000_000])
        #expect(session.pacer.counters.missed == 3)
    }

    @Test(
        "slots that pass while a frame waits for the encoder are missed; it takes the one that it is not too late for"
    )
    func missedWhileWaiting() {
        var session = Self.session(repeats: true, encode: 360)
        session.offer(1, at: 0)
        session.offer(2, at: 150_000_000)
        session.run(until: 360_000_000)
        // Those at 100 and 200 ms are more than 75 ms in the past.
        #expect(session.outputs.map(\.time) == [0, 360_000_000])
        #expect(session.outputs.map(\.slot) == [0, 300_000_000])
        #expect(session.pacer.counters.missed == 2)
    }

    @Test("a thread that sleeps misses slots")
    func missedByThread() {
        var pacer = SessionPacer<Int>(fps: 10, repeats: true)
        _ = pacer.offer(1, at: 0)
        _ = pacer.next(at: 0)
        pacer.finish(.encoded(byteCount: 1, isKeyframe: true), started: 0, at: 5_000_000)
        // At 980 ms the slots at 100 to 900 ms are over. The slot at 1000 ms has its repeat at 1050 ms.
        guard case .wait(until: 1_050_000_000) = pacer.next(at: 980_000_000) else {
            Issue.record("a repeat leaves half an interval after its slot is due")
            return
        }
        #expect(pacer.counters.missed == 9)
    }

    @Test("a picture that comes to nothing misses its slot where slots are filled", arguments: [true, false])
    func missedByFailure(repeats: Bool) {
        var pacer = SessionPacer<Int>(fps: 10, repeats: repeats)
        let outcomes: [PictureOutcome] = [.failed, .encoded(byteCount: 1, isKeyframe: true), .poolDrop, .failed]
        for (frame, outcome) in outcomes.enumerated() {
            let now = UInt64(frame) * 100_000_000
            _ = pacer.offer(frame, at: now)
            guard case .encode(frame, slot: now) = pacer.next(at: now) else {
                Issue.record("frame \(frame) is due")
                return
            }
            pacer.finish(outcome, started: now, at: now)
        }
        #expect(pacer.counters.missed == (repeats ? 3 : 0))
        #expect(pacer.counters.errors == 2)
        #expect(pacer.counters.poolDrops == 1)
    }

    @Test("slots missed before a change of the rate are the former rate's")
    func missedAcrossChange() {
        var session = Self.session(repeats: true, encode: 1_000)
        session.offer(1, at: 0)
        session.encoder = Self.encoder(4)
        session.run(until: 1_010_000_000)
        #expect(session.outputs.map(\.slot) == [0])
        session.encoder = Self.encoder(2_000)
        // The slot at 1000 ms is repeated at 1050 ms. The encoder is then busy until 3050 ms.
        session.run(until: 2_010_000_000)
        #expect(session.pacer.counters.missed == 9)
        session.pacer.changeRate(fps: 100, at: 2_010_000_000)
        // The slots at 1100 to 1900 ms are over; the one at 2000 ms is due at once.
        #expect(session.pacer.counters.missed == 18)
        session.encoder = Self.encoder(1)
        session.run(until: 3_050_000_000)
        // Slots every 10 ms, from 2002.5 ms (the greatest lateness that the new rate allows) to 3032.5 ms.
        #expect(session.pacer.counters.missed == 18 + 104)
    }

    @Test("without repeats a frame that comes late begins a new sequence of slots, and none is missed")
    func newSequence() {
        var session = Self.session(repeats: false)
        session.offer(1, at: 0)
        session.offer(2, at: 175_000_000)
        session.offer(3, at: 450_000_001)
        session.offer(4, at: 550_000_000)
        session.run(until: 2_000_000_000)
        // 175 ms is just within the slot at 100 ms; 450 ms is too late for the slot at 200 ms.
        #expect(session.outputs.map(\.slot) == [0, 100_000_000, 450_000_001, 550_000_001])
        #expect(session.outputs.map(\.time) == [0, 175_000_000, 450_000_001, 550_000_000])
        #expect(session.pacer.counters.missed == 0)
    }

    @Test("a picture that a viewer waits for is repeated ahead of its slot, even if repeats are off")
    func demanded() {
        var pacer = SessionPacer<Int>(fps: 10, repeats: false)
        _ = pacer.offer(1, at: 0)
        _ = pacer.next(at: 0)
        pacer.finish(.encoded(byteCount: 1, isKeyframe: true), started: 0, at: 5_000_000)
        guard case .wait(until: nil) = pacer.next(at: 6_000_000) else {
            Issue.record("nobody waits for anything")
            return
        }
        guard case .repeat(slot: 100_000_000) = pacer.next(at: 7_000_000, demandTime: 0) else {
            Issue.record("the last picture is wanted")
            return
        }
        pacer.finish(.encoded(byteCount: 1, isKeyframe: true), started: 7_000_000, at: 9_000_000)
        // Two have left at once; the third has to wait for one interval.
        guard case .wait(until: 100_000_002) = pacer.next(at: 10_000_000, demandTime: 0) else {
            Issue.record("the rate has to be kept")
            return
        }
    }

    @Test(
        "a waiting frame leaves at once for a viewer that wants a keyframe, and the next one has the next slot"
    )
    func demandedFrame() {
        var pacer = SessionPacer<Int>(fps: 10, repeats: true)
        _ = pacer.offer(1, at: 0)
        _ = pacer.next(at: 0)
        pacer.finish(.encoded(byteCount: 1, isKeyframe: true), started: 0, at: 5_000_000)
        _ = pacer.offer(2, at: 20_000_000)
        guard case .wait(until: 60_000_000) = pacer.next(at: 20_000_000, demandTime: 60_000_000) else {
            Issue.record("nobody waits yet")
            return
        }
        guard case .encode(2, slot: 100_000_000) = pacer.next(at: 60_000_000, demandTime: 60_000_000) else {
            Issue.record("the frame is wanted")
            return
        }
        pacer.finish(.encoded(byteCount: 1, isKeyframe: true), started: 60_000_000, at: 65_000_000)
        _ = pacer.offer(3, at: 100_000_000)
        // Its slot is taken, so it makes room for a frame that comes by the next one.
        guard case .wait(until: 212_500_000) = pacer.next(at: 100_000_000) else {
            Issue.record("the slot at 200 ms is for the next frame")
            return
        }
        _ = pacer.offer(4, at: 199_000_000)
        guard case .encode(4, slot: 200_000_000) = pacer.next(at: 199_000_000) else {
            Issue.record("the slots have not moved")
            return
        }
        #expect(pacer.counters.gated == 1)
    }

    @Test("the relay gets slots from the next one on, and they are taken back from where it left off")
    func slotsFilledElsewhere() {
        var pacer = SessionPacer<Int>(fps: 10, repeats: true)
        #expect(pacer.slotsToFill == nil, "there is no picture to fill them with")
        _ = pacer.offer(1, at: 0)
        #expect(pacer.slotsToFill == nil, "a frame waits")
        _ = pacer.next(at: 0)
        #expect(pacer.slotsToFill == nil, "a frame is being encoded")
        pacer.finish(.encoded(byteCount: 1, isKeyframe: true), started: 0, at: 1_000_000)
        #expect(pacer.slotsToFill?.first == 100_000_000)
        #expect(pacer.slotsToFill?.fps == 10)
        let last = pacer.resume(slots: 7, at: 690_000_000)
        #expect(last == 700_000_000)
        #expect(pacer.counters.missed == 0)
        _ = pacer.offer(2, at: 790_000_000)
        guard case .encode(2, slot: 800_000_000) = pacer.next(at: 790_000_000) else {
            Issue.record("the next frame has the next slot")
            return
        }
    }

    @Test("a report of more filled slots than there were counts only those there were")
    func slotsThatNeverWere() {
        var pacer = SessionPacer<Int>(fps: 10, repeats: true)
        _ = pacer.offer(1, at: 0)
        _ = pacer.next(at: 0)
        pacer.finish(.encoded(byteCount: 1, isKeyframe: true), started: 0, at: 1_000_000)
        // The slot that is due within an interval may have been taken.
        let last = pacer.resume(slots: .max, at: 650_000_000)
        #expect(last == 700_000_000)
    }

    @Test("without repeats there are no slots for the relay to fill")
    func noSlotsToFill() {
        var pacer = SessionPacer<Int>(fps: 10, repeats: false)
        _ = pacer.offer(1, at: 0)
        _ = pacer.next(at: 0)
        pacer.finish(.encoded(byteCount: 1, isKeyframe: true), started: 0, at: 1_000_000)
        #expect(pacer.slotsToFill == nil)
    }
}
