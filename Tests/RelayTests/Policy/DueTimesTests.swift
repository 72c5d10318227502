import Relay
import Testing

@Suite("Due times")
struct DueTimesTests {
    /// Takes everything that is due by `now`, in one round.
    private static func take(_ times: inout DueTimes, now: UInt64) -> [Int] {
        var (taken, place) = ([Int](), 0)
        while let found = times.take(from: place, now: now) {
            taken.append(found)
            place = found + 1
        }
        return taken
    }

    @Test("are taken once each, and not before")
    func once() {
        var times = DueTimes()
        #expect(times.next == nil)
        let (first, second) = (times.add(), times.add())
        #expect(times.next == nil)
        times.set(first, from: 20)
        times.set(second, from: 10)
        #expect(times.next == 10)
        #expect(Self.take(&times, now: 9).isEmpty)
        #expect(Self.take(&times, now: 15) == [second])
        #expect(times.next == 20)
        times.set(second, from: 17)
        #expect(Self.take(&times, now: 30) == [first, second])
        #expect(times.next == nil)
    }

    @Test("with room are taken with others, and alone when it is over")
    func room() {
        var times = DueTimes()
        let (roomy, exact) = (times.add(), times.add())
        times.set(roomy, from: 100, room: 40)
        times.set(exact, from: 130)
        #expect(times.next == 130)
        #expect(Self.take(&times, now: 130) == [roomy, exact])
        times.set(roomy, from: 200, room: 40)
        times.set(exact, from: 199)
        #expect(Self.take(&times, now: 199) == [exact])
        #expect(times.next == 240)
        times.set(roomy, from: .max, room: 40)
        #expect(times.next == nil)
    }

    @Test("of a removed member disappear, and the next member gets its place")
    func removed() {
        var times = DueTimes()
        let (gone, stays) = (times.add(), times.add())
        times.set(gone, from: 1)
        times.set(stays, from: 2)
        times.remove(gone)
        #expect(Self.take(&times, now: 1).isEmpty)
        let new = times.add()
        #expect(new == gone)
        #expect(Self.take(&times, now: 2) == [stays])
    }
}
