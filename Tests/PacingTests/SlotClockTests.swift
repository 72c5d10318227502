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
