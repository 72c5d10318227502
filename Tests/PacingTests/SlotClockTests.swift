import Pacing
import Testing

@Suite("Slots")
struct SlotClockTests {
    /// A clock whose first slot, at `time`, has been taken.
    private static func clock(fps: Int, from time: UInt64) -> SlotClock {
        var clock = SlotClock(fps: fps)
        clock.begin(at: time)
        _ = clock.takeSlot()
        return clock
    }

    @Test("the millionth slot of a rate that does not divide a second is due exactly")
    func noDrift() {
        var clock = SlotClock(fps: 30)
        #expect(clock.due == nil)
        #expect(clock.isOver(at: 0))
        clock.begin(at: 7)
        #expect(clock.due == 7)
        for _ in 0..<1_000_001 { _ = clock.takeSlot() }
        #expect(clock.due == 7 + 1_000_001 * 1_000_000_000 / 30)
    }

    @Test("another rate goes on from the last slot")
    func anotherRate() {
        var clock = Self.clock(fps: 10, from: 1_000)
        clock.changeRate(fps: 50, at: 5_000_000)
        #expect(clock.due == 20_001_000)
        clock.changeRate(fps: 4, at: 6_000_000)
        #expect(clock.due == 250_001_000)
        let slot = clock.takeSlot()
        #expect(slot == 250_001_000)
        #expect(clock.due == 500_001_000)
    }

    @Test("a higher rate owes no slots for the time before it")
    func higherRate() {
        var clock = Self.clock(fps: 1, from: 0)
        clock.changeRate(fps: 100, at: 500_000_000)
        #expect(clock.due == 500_000_000)
        // A slot that was due stays due,
        _ = clock.takeSlot()
        clock.changeRate(fps: 50, at: 535_000_000)
        #expect(clock.due == 520_000_000)
        // as far as the new rate admits a picture that late.
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
}
