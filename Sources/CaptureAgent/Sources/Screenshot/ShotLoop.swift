import Media
import Wire

/// Takes shots when they are due and delivers those that show something new.
struct ShotLoop {
    private let backend: any ScreenshotBackend
    private let sink: any FrameSink
    private var schedule: ShotSchedule
    private var changed = ChangedShots()
    private var size: PictureSize?
    private var isWanted = false
    private var reports = ChangeReports()

    init(backend: any ScreenshotBackend, sink: any FrameSink) {
        self.backend = backend
        self.sink = sink
        schedule = ShotSchedule(pace: backend.pace)
    }

    /// Takes a first shot without demand, to find out whether shots work and how large they are.
    mutating func open(stop: Event) throws(SourceError) {
        do throws(ShotError) {
            if let shot = try backend.take(.now, stop: stop) { deliver(shot) }
            // The first session may want a shot much later.
            forget()
        } catch {
            switch error {
            case .failed(let cause, let detail): throw .unavailable(cause: cause, detail: detail)
            case .sourceLost(let error): throw error
            }
        }
    }

    mutating func follow(_ demand: SourceDemand.Value) {
        schedule.follow(fps: demand.fastestSession, now: MonotonicClock.now)
        guard demand.isWanted != isWanted else { return }
        isWanted = demand.isWanted
        // From here on nobody looks at the screen.
        if !isWanted { forget() }
    }

    private mutating func forget() {
        backend.rest()
        reports = ChangeReports()
        changed.forget()
        sink.outdated()
    }

    /// Waits until a shot is due.
    ///
    /// - Returns: `false` if one of `events` is set first, or if the backend has work.
    func waitForShot(or events: [Event]) -> Bool {
        let descriptors = events.map(\.descriptor) + [backend.descriptor].compactMap { $0 }
        let interests = descriptors.map { Poll.Interest($0) }
        while true {
            let now = MonotonicClock.now
            if let due = schedule.due, due <= now { return true }
            if Poll.wait(for: interests, timeout: schedule.due.map { $0 - now }).contains(true) { return false }
        }
    }

    /// Takes a shot once the screen has changed, unless one of the events is set first.
    mutating func takeShot(stop: Event, demandChanged: Event) throws(SourceError) {
        let began = MonotonicClock.now
        do throws(ShotError) {
            let waits = !changed.isEmpty && reports.areReliable
            let moment = waits ? ShotMoment.onceChanged(unless: demandChanged) : .now
            guard let shot = try backend.take(moment, stop: stop) else { return }
            schedule.taken(began: began, ended: MonotonicClock.now)
            if deliver(shot), waits, changed.hasNewPixels { reports.changed(isReported: shot.isReported) }
        } catch {
            switch error {
            case .failed(let cause, let detail):
                schedule.failed(began: began, ended: MonotonicClock.now)
                if schedule.hasFailed { throw .lost(cause: cause, detail: detail) }
            case .sourceLost(let error):
                throw error
            }
        }
    }

    /// - Returns: Whether it shows something new.
    @discardableResult
    private mutating func deliver(_ shot: Shot) -> Bool {
        if shot.memory.description.size != size {
            size = shot.memory.description.size
            sink.sourceChanged(SourceStatus(state: .streaming, size: size))
        }
        guard let frame = changed.frame(of: shot) else { return false }
        sink.receive(frame)
        return true
    }
}
