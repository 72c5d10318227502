import Pacing
import Testing

@Suite("Slots")
struct SlotClockTests {
    /// Returns a clock whose first slot, at `time`, has been taken.
    private static func clock(fps: Int, from time: UInt64) -> SlotClock {
        var clock = SlotClock(fps: fps)
        clock.begin(at: time)
        _ = clock.takeSlot(at: clock.due ?? 0)
        return clock
    }

    @Test("the millionth slot of a rate that does not divide a second is due exactly")
    func noDrift() {
        var clock = SlotClock(fps: 30)
        #expect(clock.due == nil)
        #expect(clock.isOver(at: 0))
        clock.begin(at: 7)
        #expect(clock.due == 7)
        for _ in 0..<1_000_001 { _ = clock.takeSlot(at: clock.due ?? 0) }
        #expect(clock.due == 7 + 1_000_001 * 1_000_000_000 / 30)
    }

    @Test(
        "the first slot is in step with the frame, due a quarter before it leaves at the earliest and not before the start",
        arguments: [
            (arrival: 1_000_000_000, start: 0, first: 1_000_000_000),
            (arrival: 975_000_000, start: 0, first: 975_000_000),
            (arrival: 974_000_000, start: 0, first: 1_074_000_000),
            (arrival: 930_000_000, start: 0, first: 1_030_000_000),
            (arrival: 880_000_000, start: 0, first: 980_000_000),
            (arrival: 990_000_000, start: 995_000_000, first: 1_090_000_000),
            // The source is not that fast, so nothing moves.
            (arrival: 800_000_000, start: 0, first: 1_000_000_000),
        ] as [(arrival: UInt64, start: UInt64, first: UInt64)]
    )
    func firstSlot(arrival: UInt64, start: UInt64, first: UInt64) {
        var clock = SlotClock(fps: 10)
        clock.begin(inStepWith: arrival, at: 1_000_000_000, from: start)
        #expect(clock.due == first)
    }

    @Test("another rate goes on from the last slot")
    func anotherRate() {
        var clock = Self.clock(fps: 10, from: 1_000)
        clock.changeRate(fps: 50, at: 5_000_000)
        #expect(clock.due == 20_001_000)
        clock.changeRate(fps: 4, at: 6_000_000)
        #expect(clock.due == 250_001_000)
        let slot = clock.takeSlot(at: clock.due ?? 0)
        #expect(slot == 250_001_000)
        #expect(clock.due == 500_001_000)
    }

    @Test("a higher rate owes no slots for the time before it")
    func higherRate() {
        var clock = Self.clock(fps: 1, from: 0)
        clock.changeRate(fps: 100, at: 500_000_000)
        #expect(clock.due == 500_000_000)
        // A slot that was due stays due.
        _ = clock.takeSlot(at: clock.due ?? 0)
        clock.changeRate(fps: 50, at: 535_000_000)
        #expect(clock.due == 520_000_000)
        // That holds only if the new rate admits a picture that late.
        clock.changeRate(fps: 100, at: 535_000_000)
        #expect(clock.due == 527_500_000)
    }

    @Test("before the first slot only the rate changes")
    func beforeTheFirstSlot() {
        var clock = SlotClock(fps: 1)
        clock.changeRate(fps: 10, at: 7)
        #expect(clock.due == nil)
        #expect(clock.interval() == 100_000_000)
    }

    @Test("a slot is over for pictures more than three quarters of an interval late, and passed over then")
    func passingOver() {
        var clock = Self.clock(fps: 10, from: 0)
        let none = clock.passOver(at: 175_000_000)
        #expect(none == 0)
        #expect(clock.due == 100_000_000)
        let some = clock.passOver(at: 375_000_001)
        #expect(some == 3)
        #expect(clock.due == 400_000_000)
        var unused = SlotClock(fps: 10)
        let nothing = unused.passOver(at: 375_000_001)
        #expect(nothing == 0)
    }

    @Test(
        "the slots move ahead for a picture that leaves early, by half an interval at most, and no further than earlier pictures allow"
    )
    func movesAhead() {
        var clock = Self.clock(fps: 10, from: 1_000_000_000)
        // The picture at 1 s left on time, so half of the interval beyond the quarters remains.
        #expect(clock.headroom == 50_000_000)
        var slot = clock.takeSlot(at: 1_040_000_000)
        #expect(slot == 1_065_000_000)
        // The next one leaves a quarter before 1.165 s at the earliest. Two pictures have left within 40 ms, so no
        // slack remains.
        #expect(clock.due == 1_165_000_000)
        // Nanoseconds are rounded to the safe side.
        #expect(clock.headroom == 39_999_998)
        slot = clock.takeSlot(at: 1_100_000_000)
        #expect(slot == 1_125_000_002)
        #expect(clock.headroom == 0)
        slot = clock.takeSlot(at: 1_200_000_000)
        #expect(slot == 1_225_000_002)
        #expect(clock.headroom == 0)
    }

    @Test("the slots move back until the next is due at a time, and give what earlier pictures had left ahead of them")
    func movesBack() {
        var clock = Self.clock(fps: 10, from: 1_000_000_000)
        while clock.headroom > 0 { _ = clock.takeSlot(at: (clock.due ?? 0) - clock.earliness - clock.headroom) }
        let due = clock.due ?? 0
        clock.moveBack(to: due - 1)
        #expect(clock.due == due)
        clock.moveBack(to: due + 40_000_000)
        #expect(clock.due == due + 40_000_000)
        // A nanosecond is rounded to the safe side.
        #expect(clock.headroom == 39_999_999)
        let slot = clock.takeSlot(at: due + 40_000_000)
        #expect(slot == due + 40_000_000)
        #expect(clock.due == due + 140_000_000)
    }
}
