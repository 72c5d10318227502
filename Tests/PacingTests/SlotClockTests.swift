import Pacing
import Testing

@Suite("Slots")
struct SlotClockTests {
    @Test("the millionth slot of a rate that does not divide a second is due exactly")
    func noDrift() {
        var clock = SlotClock(fps: 30)
        #expect(clock.due == nil)
        let first = clock.takeSlot(at: 7)
        #expect(first == 7)
        for _ in 0..<1_000_000 { clock.forfeitSlot() }
        #expect(clock.due == 7 + 1_000_001 * 1_000_000_000 / 30)
    }

    @Test("another rate goes on from the last slot")
    func anotherRate() {
        var clock = SlotClock(fps: 10)
        _ = clock.takeSlot(at: 1_000)
        clock.changeRate(fps: 50, at: 5_000_000)
        #expect(clock.due == 20_001_000)
        clock.changeRate(fps: 4, at: 6_000_000)
        #expect(clock.due == 250_001_000)
        let slot = clock.takeSlot(at: 260_000_000)
        #expect(slot == 250_001_000)
        #expect(clock.due == 500_001_000)
    }

    @Test("a higher rate owes no slots for the time before it")
    func higherRate() {
        var clock = SlotClock(fps: 1)
        _ = clock.takeSlot(at: 0)
        clock.changeRate(fps: 100, at: 500_000_000)
        #expect(clock.due == 500_000_000)
        // A slot that was due stays due.
        _ = clock.takeSlot(at: 500_000_000)
        clock.changeRate(fps: 50, at: 540_000_000)
        #expect(clock.due == 520_000_000)
        clock.changeRate(fps: 100, at: 550_000_000)
        #expect(clock.due == 520_000_000)
    }

    @Test("before the first slot only the rate changes")
    func beforeTheFirstSlot() {
        var clock = SlotClock(fps: 1)
        clock.changeRate(fps: 10, at: 7)
        #expect(clock.due == nil)
        #expect(clock.interval() == 100_000_000)
    }

    @Test("a picture up to an interval late takes its slot's time, a later one begins a new sequence")
    func reanchoring() throws {
        var clock = SlotClock(fps: 10)
        _ = clock.takeSlot(at: 1_000)
        let due = try #require(clock.due)
        let second = clock.takeSlot(at: due + 100_000_000)
        #expect(second == due)
        let late = try #require(clock.due) + 100_000_001
        let third = clock.takeSlot(at: late)
        #expect(third == late)
        #expect(clock.due == late + 100_000_000)
    }
}
