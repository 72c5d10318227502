import Media
import NIOCore

/// The callers that wait for a session's sound, or for its level. No picture is encoded for them, and no sound decoded.
@MediaLoop
final class SoundWaits: Sink {
    /// A caller that waits.
    struct Waiter: Hashable {
        fileprivate let id: Int
    }

    private struct Entry {
        var observation: SoundObservation
        let news = Waiters<Void>()

        init(_ goal: SoundObservation.Goal) { observation = SoundObservation(goal) }
    }

    /// How many callers may wait at once.
    var maximum: Int
    /// Returns whether an agent captures the device's sound now.
    private let isCaptured: @MediaLoop () -> Bool
    /// Returns the present PTS, µs.
    private let clock: @MediaLoop () -> Int64
    private var entries: [Waiter: Entry] = [:]
    private var lastID = 0
    private var ended = false

    init(maximum: Int, clock: @escaping @MediaLoop () -> Int64, isCaptured: @escaping @MediaLoop () -> Bool) {
        (self.maximum, self.clock, self.isCaptured) = (maximum, clock, isCaptured)
    }

    // MARK: Sink

    var demand: Demand { entries.isEmpty ? .none : Demand(video: .none, audio: [.opus]) }
    var isUse: Bool { !entries.isEmpty }

    func take(_ item: StreamItem) {
        switch item {
        case .unit(let unit): if unit.sound == .opus { heard(unit) }
        case .end:
            ended = true
            wake()
        case .feed, .sourceLost, .tracks: break
        }
    }

    /// Has all callers look again whether an agent captures.
    func captureChanged() { wake() }

    private func wake() {
        for entry in entries.values { entry.news.resume(with: ()) }
    }

    private func heard(_ unit: MediaUnit) {
        guard let samples = unit.samples else { return }
        let now = clock()
        for waiter in entries.keys {
            entries[waiter]?.observation.heard(
                unit.header.level,
                from: unit.pts,
                to: unit.pts &+ Int64(clamping: samples) &* 125 / 6,
                tellsSilence: unit.header.flags.contains(.silence)
            )
            if case .reached = entries[waiter]?.observation.verdict(now: now) { entries[waiter]?.news.resume(with: ()) }
        }
    }

    // MARK: Waiting

    /// Reserves a place, which ``leave(_:)`` releases.
    func join(_ goal: SoundObservation.Goal) throws(ScreenWaitFailure) -> Waiter {
        guard !ended else { throw .ended }
        guard entries.count < maximum else { throw .tooMany(limit: maximum) }
        lastID += 1
        let waiter = Waiter(id: lastID)
        entries[waiter] = Entry(goal)
        return waiter
    }

    /// Waits until the goal is reached. A caller may wait again after a time-out.
    ///
    /// - Returns: What was observed, and since which PTS, µs.
    func wait(_ waiter: Waiter, until deadline: NIODeadline)
        async throws(ScreenWaitFailure) -> (SoundObservation, since: Int64)
    {
        while true {
            guard !ended else { throw .ended }
            let now = clock()
            entries[waiter]?.observation.listens(isCaptured(), now: now)
            guard let entry = entries[waiter] else { throw .abandoned }
            let due: NIODeadline
            switch entry.observation.verdict(now: now) {
            case .reached(let since): return (entry.observation, since)
            case .due(let time): due = min(deadline, .now() + .microseconds(time - now))
            case .open: due = deadline
            }
            guard .now() < deadline else { throw .timedOut }
            await entry.news.wait(until: due)
        }
    }

    /// Releases a place that its caller no longer needs.
    func leave(_ waiter: Waiter) { entries.removeValue(forKey: waiter)?.news.resume(with: ()) }
}
