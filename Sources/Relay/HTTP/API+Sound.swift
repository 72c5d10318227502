import HTTPTypes
import HeliographAPI
import Hummingbird
import Media
import NIOCore
import Wire

extension API {
    /// How long an agent may take to begin with the capture.
    private static let captureTime = TimeAmount.seconds(5)

    func addSoundRoutes(to routes: inout RouteTable) {
        routes.respond(to: Routes.getSoundLevel) { query, request, context in
            var answer = try Answer.json(try await level(query, request, context))
            answer.headers[.connection] = "close"
            return answer
        }
    }

    @MediaLoop
    private func level(_ query: SoundLevelQuery, _ request: Request, _ context: RelayRequestContext) async throws
        -> SoundLevelReport
    {
        let lasting = Int64((query.for * 1e6).rounded())
        let limit = NIODeadline.now() + .microseconds(lasting + SoundObservation.grace) + Self.captureTime
        let session = try await watchedSession(request, context)
        let wait = try SoundWait(.level(lasting: lasting), of: session)
        // Releases the place when a client leaves, too.
        defer { wait.leave() }
        let (observation, since): (SoundObservation, Int64)
        do {
            (observation, since) = try await request.body.consumeWithInboundCloseHandler { _ in
                try await wait.observation(until: limit)
            } onInboundClosed: {
                Task { @MediaLoop in wait.leave() }
            }
        } catch let failure as ScreenWaitFailure {
            guard case .timedOut = failure else { throw Problem(failure, of: session) }
            let problem = switchboard.broadcast(of: session.device.name)?.sound.problem
            throw Problem(
                .noSound,
                problem ?? "no agent captured the device's sound for that long: is its broadcast running?"
            )
        }
        var report = SoundLevelReport()
        report.device = session.device.name
        report.level = observation.level.map { $0.decibels.rounded(places: 2) }
        report.loudest = observation.loudest.map { $0.decibels.rounded(places: 2) }
        report.seconds = query.for
        report.at = wait.instant(of: since).wallClockText
        return report
    }
}

extension Session {
    /// Refuses a call that needs the device's sound if that is off.
    func requireSound() throws(Problem) {
        guard device.sound == .off else { return }
        throw Problem(.noSound, "the sound of device \(device.name) is off: set its audio")
    }
}

/// A wait for sound, or for its level, by the levels of its packets.
@MediaLoop
struct SoundWait: PendingScreenWait {
    private let waits: SoundWaits
    private let waiter: SoundWaits.Waiter
    /// The session's epoch, monotonic ns.
    private let epoch: UInt64

    init(_ goal: SoundObservation.Goal, of session: Session) throws(Problem) {
        try session.requireSound()
        (waits, epoch) = (session.soundWaits, session.epoch)
        do throws(ScreenWaitFailure) {
            waiter = try waits.join(goal)
        } catch {
            throw Problem(error, of: session)
        }
        // The agent learns now that it is wanted.
        session.source.follow()
    }

    init(_ query: ScreenWait, of session: Session) throws(Problem) {
        let threshold = SoundLevel(decibels: query.threshold ?? ScreenWait.defaultThreshold)
        let lasting = Int64((query.staticTime * 1e6).rounded())
        let isSound = query.until == .sound
        try self.init(
            isSound
                ? .sound(threshold: threshold, lasting: lasting) : .silence(threshold: threshold, lasting: lasting),
            of: session
        )
    }

    /// Returns what was observed, and since when, as a PTS in µs.
    func observation(until time: NIODeadline) async throws(ScreenWaitFailure) -> (SoundObservation, since: Int64) {
        try await waits.wait(waiter, until: time)
    }

    func end(until time: NIODeadline) async -> ScreenWaitEnd? {
        do throws(ScreenWaitFailure) {
            let since = try await waits.wait(waiter, until: time).since
            return .happened(pts: since, time: instant(of: since), box: nil)
        } catch {
            if case .timedOut = error { return nil }
            return .ended
        }
    }

    func leave() { waits.leave(waiter) }

    /// Returns the monotonic time of a PTS in µs.
    func instant(of pts: Int64) -> NIODeadline { .uptimeNanoseconds(epoch &+ UInt64(clamping: pts) &* 1000) }
}
