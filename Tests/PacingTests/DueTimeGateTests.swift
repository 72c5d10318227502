import Pacing
import Testing

@Suite("When frames are ready")
struct DueTimeGateTests {
    /// 10 slots a second; the next is due at 100 ms.
    private static var clock: SlotClock {
        var clock = SlotClock(fps: 10)
        clock.begin(at: 0)
        _ = clock.takeSlot(at: clock.due ?? 0)
        return clock
    }

    /// Returns a gate that has learnt a source from the gaps between its frames, in ms.
    private static func gate(gaps: [UInt64]) -> DueTimeGate {
        var gate = DueTimeGate()
        var arrival: UInt64 = 0
        gate.frameArrived(at: arrival, clock: clock)
        for gap in gaps {
            arrival += gap * 1_000_000
            gate.frameArrived(at: arrival, clock: clock)
        }
        return gate
    }

    private static func readyTime(_ gate: DueTimeGate, arrival milliseconds: UInt64) -> UInt64 {
        gate.readyTime(arrival: milliseconds * 1_000_000, clock: clock) / 100_000
    }

    @Test("a frame at most a quarter of an interval early, or late, is ready at once")
    func atOnce() {
        let gate = DueTimeGate()
        #expect(Self.readyTime(gate, arrival: 75) == 750)
        #expect(Self.readyTime(gate, arrival: 130) == 1_300)
        #expect(gate.readyTime(arrival: 7, clock: SlotClock(fps: 10)) == 7)
    }

    @Test(
        "an earlier one waits an eighth of an interval beyond its slot where the source may send a fresher one by then"
    )
    func waits() {
        #expect(Self.readyTime(DueTimeGate(), arrival: 50) == 1_125)
        let gate = Self.gate(gaps: Array(repeating: 50, count: 100))
        #expect(Self.readyTime(gate, arrival: 50) == 1_125)
        #expect(Self.readyTime(gate, arrival: 70) == 1_000)
    }

    @Test("it waits for its slot only if the source is slower than that, but faster than the slots")
    func waitsForItsSlot() {
        let gate = Self.gate(gaps: Array(repeating: 80, count: 100))
        #expect(Self.readyTime(gate, arrival: 50) == 1_000)
    }

    @Test("a frame of a source at most as fast as the slots is ready at once, if the slots can move that far")
    func movesSlots() {
        let gate = Self.gate(gaps: Array(repeating: 100, count: 100))
        #expect(Self.readyTime(gate, arrival: 50) == 500)
        #expect(Self.readyTime(gate, arrival: 30) == 300)
        #expect(Self.readyTime(gate, arrival: 20) == 250)
    }

    @Test("a frame that would wait for half an interval makes room for the next one")
    func makesRoom() {
        var clock = SlotClock(fps: 10)
        clock.begin(at: 2_000_000_000)
        // Pictures leave as soon as they may, until the slots cannot move ahead further.
        while clock.headroom > 0, let due = clock.due {
            _ = clock.takeSlot(at: due - clock.earliness - clock.headroom)
        }
        let due = clock.due ?? 0
        /// Returns how long a frame waits, in 0.1 ms, that arrives this long before its slot, after eight others did
        /// the same.
        func wait(_ early: UInt64) -> UInt64 {
            let arrival = due - early * 1_000_000
            var gate = DueTimeGate()
            for number in (0...8).reversed() as ReversedCollection<ClosedRange<UInt64>> {
                gate.frameArrived(at: arrival - number * 100_000_000, clock: clock)
            }
            #expect((gate.room != nil) == (early >= 75))
            return (gate.readyTime(arrival: arrival, clock: clock) - arrival) / 100_000
        }
        #expect(wait(26) == 10)
        #expect(wait(74) == 490)
        #expect(wait(75) == 1_125, "until 9/8 of an interval after it arrived")
    }

    @Test("a pause does not change what a source is taken for; a short gap does, after a pause the second one")
    func pause() {
        let paused = Self.gate(gaps: Array(repeating: 50, count: 100) + [60_000])
        #expect(Self.readyTime(paused, arrival: 50) == 1_125)
        let slow = Self.gate(gaps: Array(repeating: 100, count: 100) + [30])
        #expect(Self.readyTime(slow, arrival: 50) == 1_125)
        for (gaps, ready) in [([30], 500), ([30, 30], 1_125)] as [([UInt64], UInt64)] {
            let waking = Self.gate(gaps: Array(repeating: 500, count: 100) + gaps)
            #expect(Self.readyTime(waking, arrival: 50) == ready)
        }
    }

    @Test("a frame is ready within 9/8 of an interval even if its slot is further away")
    func farSlot() {
        var clock = Self.clock
        // The picture of the slot at 100 ms left at 75 ms.
        _ = clock.takeSlot(at: 75_000_000)
        #expect(DueTimeGate().readyTime(arrival: 76_000_000, clock: clock) == 188_500_000)
    }
}
