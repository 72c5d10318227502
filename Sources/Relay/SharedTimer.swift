import NIOCore

/// One timer of the media loop for sessions that rest and for what the relay looks for now and then: what is due at about the same time costs one wake.
@MediaLoop
final class SharedTimer {
    private var dueTimes = DueTimes()
    private var actions: [@MediaLoop () -> Void] = []
    private var armed: (time: UInt64, task: Scheduled<Void>)?
    private var isRunning = false

    init() {}

    deinit { armed?.task.cancel() }

    /// A new entry, which is not due. The action is kept until the entry is removed.
    func add(_ action: @escaping @MediaLoop () -> Void) -> Int {
        let place = dueTimes.add()
        if place == actions.count { actions.append(action) } else { actions[place] = action }
        return place
    }

    func remove(_ place: Int) {
        dueTimes.remove(place)
        actions[place] = {}
        arm()
    }

    /// Has the entry's action run once at `time`.
    ///
    /// - Parameters:
    ///   - time: Monotonic ns; `UInt64.max` for never.
    ///   - room: How much later it may be, ns, to be run with another.
    func set(_ place: Int, at time: UInt64, room: UInt64 = 0) {
        dueTimes.set(place, from: time, room: room)
        arm()
    }

    private func arm() {
        guard !isRunning else { return }
        let time = dueTimes.next
        guard time != armed?.time else { return }
        armed?.task.cancel()
        armed = time.map { time in
            (time, MediaLoop.schedule(at: .uptimeNanoseconds(time)) { [weak self] in self?.run() })
        }
    }

    private func run() {
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
