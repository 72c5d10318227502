/// When entries are due. An entry may have room: it is taken with another that is due, and waits alone until its room is over.
///
/// A pure value; times are monotonic ns. Hundreds of entries are gone through in less time than a system call takes.
package struct DueTimes: Sendable {
    private static let never = (from: UInt64.max, until: UInt64.max)

    private var times: [(from: UInt64, until: UInt64)] = []
    private var free: [Int] = []

    package init() {}

    /// When something has to be taken; nil for never.
    package var next: UInt64? {
        var least = UInt64.max
        for time in times { least = min(least, time.until) }
        return least == .max ? nil : least
    }

    /// A new entry, which is not due.
    package mutating func add() -> Int {
        if let place = free.popLast() { return place }
        times.append(Self.never)
        return times.count - 1
    }

    /// The place is another's from now on.
    package mutating func remove(_ place: Int) {
        times[place] = Self.never
        free.append(place)
    }

    package mutating func set(_ place: Int, from: UInt64, room: UInt64 = 0) {
        times[place] = (from, from > .max - room ? .max : from + room)
    }

    /// Takes the first entry at `place` or behind it that is due by `now`, which is due no more until it is set again.
    package mutating func take(from place: Int, now: UInt64) -> Int? {
        guard let found = times[place...].firstIndex(where: { $0.from <= now }) else { return nil }
        times[found] = Self.never
        return found
    }
}
