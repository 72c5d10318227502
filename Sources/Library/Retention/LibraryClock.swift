/// One look at the machine's clocks.
package struct ClockReading: Sendable, Equatable {
    /// UTC, in µs since 1970. It may jump.
    package var wall: Int64
    /// Time since the machine's start, in ns, with sleep. It never jumps.
    package var monotonic: Int64
    /// The kernel's boot id. Monotonic times of different boots cannot be compared.
    package var boot: String

    package init(wall: Int64, monotonic: Int64, boot: String) {
        self.wall = wall
        self.monotonic = monotonic
        self.boot = boot
    }
}

/// The library's own clock, by which items age. It never jumps, so a step of the wall clock deletes nothing.
///
/// It advances with the monotonic clock. Over a restart of the machine, the wall clock says how long the machine was
/// off, but at most ``mostCatchUp`` counts.
package struct LibraryClock: Sendable, Equatable {
    /// The most that a restart of the machine adds: a day, in µs.
    package static let mostCatchUp: Int64 = 86_400_000_000

    /// The time, in µs since the catalogue was created.
    package private(set) var time: Int64
    private(set) var last: ClockReading

    package init(time: Int64 = 0, last: ClockReading) {
        self.time = max(0, time)
        self.last = last
    }

    /// Advances the clock to a new reading.
    package mutating func advance(to reading: ClockReading) {
        let elapsed =
            if reading.boot == last.boot {
                reading.monotonic.subtractingReportingOverflow(last.monotonic).partialValue / 1000
            } else {
                min(reading.wall.subtractingReportingOverflow(last.wall).partialValue, Self.mostCatchUp)
            }
        time = time.addingReportingOverflow(max(0, elapsed)).partialValue
        last = reading
    }
}
