package import NIOCore

/// One timer of the media loop for resting sessions and periodic checks. Entries that are due at about the same time
/// share one wake.
@MediaLoop
package final class SharedTimer {
    private var dueTimes = DueTimes()
    private var actions: [@MediaLoop () -> Void] = []
    private var armed: (time: UInt64, callback: NIOScheduledCallback)?
    private var isRunning = false

    package init() {}

    /// Adds an entry, which is not due yet. Its action is kept until the entry is removed.
    package func add(_ action: @escaping @MediaLoop () -> Void) -> Int {
        let place = dueTimes.add()
        if place == actions.count { actions.append(action) } else { actions[place] = action }
        return place
    }

    package func remove(_ place: Int) {
        dueTimes.remove(place)
        actions[place] = {}
        arm()
    }

    /// Schedules the entry's action to run once at `time`.
    ///
    /// - Parameters:
    ///   - time: Monotonic ns; `UInt64.max` for never.
    ///   - room: How much later it may run to share a wake with another entry, ns.
    package func set(_ place: Int, at time: UInt64, room: UInt64 = 0) {
        dueTimes.set(place, from: time, room: room)
        arm()
    }

    private func arm() {
        guard !isRunning else { return }
        let time = dueTimes.next
        guard time != armed?.time else { return }
        armed?.callback.cancel()
        armed = time.map { ($0, MediaLoop.schedule(self, at: .uptimeNanoseconds($0))) }
    }

    /// Runs due actions. It may be called too early, because a callback that the loop has already taken out cannot be
    /// cancelled.
    private func run() {
        guard let time = armed?.time, time <= NIODeadline.now().uptimeNanoseconds else { return }
        armed = nil
        isRunning = true
        var place = 0
        while place < actions.count, let found = dueTimes.take(from: place, now: NIODeadline.now().uptimeNanoseconds) {
            actions[found]()
            place = found + 1
        }
        isRunning = false
        arm()
    }
}

/// Callbacks, unlike tasks, cost the event loop no promise. The loop keeps the timer until the callback has run or is
/// cancelled.
extension SharedTimer: NIOScheduledCallbackHandler {
    package nonisolated func handleScheduledCallback(eventLoop: some EventLoop) {
        MediaLoop.assumeIsolated { run() }
    }
}

/// The times when entries are due. An entry with room is taken together with another due entry, or alone when its room
/// is over.
///
/// A pure value; times are monotonic ns. Scanning hundreds of entries takes less time than a system call.
package struct DueTimes: Sendable {
    private static let never = (from: UInt64.max, until: UInt64.max)

    private var times: [(from: UInt64, until: UInt64)] = []
    private var free: [Int] = []

    package init() {}

    /// When an entry must be taken; `nil` for never.
    package var next: UInt64? {
        var least = UInt64.max
        for time in times { least = min(least, time.until) }
        return least == .max ? nil : least
    }

    /// Adds an entry, which is not due yet.
    package mutating func add() -> Int {
        if let place = free.popLast() { return place }
        times.append(Self.never)
        return times.count - 1
    }

    /// Removes an entry. Its place may be reused.
    package mutating func remove(_ place: Int) {
        times[place] = Self.never
        free.append(place)
    }

    package mutating func set(_ place: Int, from: UInt64, room: UInt64 = 0) {
        times[place] = (from, from > .max - room ? .max : from + room)
    }

    /// Takes the first entry at or after `place` that is due by `now`. It is not due again until it is set.
    package mutating func take(from place: Int, now: UInt64) -> Int? {
        guard let found = times[place...].firstIndex(where: { $0.from <= now }) else { return nil }
        times[found] = Self.never
        return found
    }
}
