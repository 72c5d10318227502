package import NIOCore

/// One timer of the media loop for sessions that rest and for what the relay looks for now and then: what is due at about the same time costs one wake.
@MediaLoop
package final class SharedTimer {
    private var dueTimes = DueTimes()
    private var actions: [@MediaLoop () -> Void] = []
    private var armed: (time: UInt64, callback: NIOScheduledCallback)?
    private var isRunning = false

    package init() {}

    /// A new entry, which is not due. The action is kept until the entry is removed.
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

    /// Has the entry's action run once at `time`.
    ///
    /// - Parameters:
    ///   - time: Monotonic ns; `UInt64.max` for never.
    ///   - room: How much later it may be, ns, to be run with another.
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

    /// A callback that the loop has already taken out to run cannot be cancelled any more: the one that took its place is still to come.
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

/// A callback, unlike a task, costs the event loop no promise. The loop keeps the timer until the callback has run or is cancelled.
extension SharedTimer: NIOScheduledCallbackHandler {
    package nonisolated func handleScheduledCallback(eventLoop: some EventLoop) {
        MediaLoop.assumeIsolated { run() }
    }
}

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
