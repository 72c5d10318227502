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

    init(backend: any ScreenshotBackend, sink: any FrameSink) {
        self.backend = backend
        self.sink = sink
        schedule = ShotSchedule(pace: backend.pace)
    }

    /// Takes a first shot without demand, to find out whether shots work and how large they are.
    mutating func open(stop: Event) throws(SourceError) {
        do throws(ShotError) {
            if let shot = try backend.take(stop: stop) { deliver(shot) }
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

    mutating func takeShot(stop: Event) throws(SourceError) {
        let began = MonotonicClock.now
        do throws(ShotError) {
            guard let shot = try backend.take(stop: stop) else { return }
            schedule.taken(began: began, ended: MonotonicClock.now)
            deliver(shot)
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

    private mutating func deliver(_ shot: Shot) {
        if shot.memory.description.size != size {
            size = shot.memory.description.size
            sink.sourceChanged(SourceStatus(state: .streaming, size: size))
        }
        if let frame = changed.frame(of: shot) { sink.receive(frame) }
    }
}
