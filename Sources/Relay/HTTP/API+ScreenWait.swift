import HTTPTypes
import HeliographAPI
import Hummingbird
import Media
import NIOCore
import Wire

extension API {
    /// How long a caller waits for the head of an answer. Until then, the result of the call may still be a problem.
    private static let headTime = TimeAmount.seconds(5)
    /// How often a long wait sends a space, so that no proxy takes its connection for dead.
    private static let spaceInterval = TimeAmount.seconds(10)

    @MediaLoop
    func wait(_ query: ScreenWait, _ request: Request, _ context: RelayRequestContext) async throws -> Response {
        let asked = NIODeadline.now()
        let limit = asked + TimeAmount(seconds: query.timeout)
        let session = try await watchedSession(request, context)
        let wait = try begin(query, of: session, asked: asked)
        // The place is released whatever becomes of the answer.
        let lost = MediaLoop.schedule(at: limit + Self.spaceInterval) { wait.leave() }
        // The answer to a HEAD has no body that could hold the outcome, so it does not wait for one.
        let isHead = request.method == .head
        let end = await wait.end(until: isHead ? asked : min(limit, .now() + Self.headTime))
        guard end == nil, !isHead, .now() < limit else {
            wait.leave()
            lost.cancel()
            var answer = try Answer.json(try report(end, query, of: session, asked: asked))
            answer.headers[.connection] = "close"
            return answer
        }
        let body = ResponseBody { writer in
            try await request.body.consumeWithInboundCloseHandler { _ in
                var end: ScreenWaitEnd?
                while end == nil, .now() < limit {
                    end = await wait.end(until: min(limit, .now() + Self.spaceInterval))
                    if end == nil, .now() < limit { try await writer.write(ByteBuffer(string: " ")) }
                }
                let late: ScreenWaitEnd? = if case .refused = end { .ended } else { end }
                let report = try await report(late, query, of: session, asked: asked)
                try await writer.write(ByteBuffer(string: try JSONValue(encoding: report).text))
            } onInboundClosed: {
                Task { @MediaLoop in wait.leave() }
            }
            await wait.leave()
            lost.cancel()
            try await writer.finish(nil)
        }
        let headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store", .connection: "close"]
        return Response(status: .ok, headers: headers, body: body)
    }

    /// Reserves a place for a wait for the session's frames, for pixels of its screen, or for sound.
    @MediaLoop
    private func begin(_ query: ScreenWait, of session: Session, asked: NIODeadline) throws(Problem)
        -> any PendingScreenWait
    {
        if let problem = query.fault { throw problem }
        if query.isForSound { return try SoundWait(query, of: session) }
        let watch = try query.comparesPixels ? Watch(query, template: template(of: query, session.device.name)) : nil
        do throws(ScreenWaitFailure) {
            guard let watch else {
                return FrameWait(
                    waits: session.screenWaits,
                    waiter: try session.screenWaits.join(),
                    condition: .init(query, asked: asked)
                )
            }
            let waiter = try session.screenWatches.join(watch)
            return PixelWait(watches: session.screenWatches, waiter: waiter, epoch: session.epoch)
        } catch {
            throw Problem(error, of: session)
        }
    }

    /// Returns the template that a wait names; `nil` if it names none.
    @MediaLoop
    private func template(of query: ScreenWait, _ device: String) throws(Problem) -> Templates.Template? {
        guard let name = query.template else { return nil }
        if let template = switchboard.templates.template(name, of: device) { return template }
        throw Problem(.unknownTemplate, "device \(device) has no template \(name): upload it first", field: "template")
    }

    @MediaLoop
    private func report(
        _ end: ScreenWaitEnd?,
        _ query: ScreenWait,
        of session: Session,
        asked: NIODeadline
    ) throws(Problem) -> ScreenWaitReport {
        let now = NIODeadline.now()
        var report = ScreenWaitReport()
        report.id = session.id
        report.device = session.device.name
        report.name = session.name
        report.until = query.until.rawValue
        report.waitedMs = (now - asked).milliseconds.rounded(places: 1)
        report.feed = session.stream.feed.rawValue
        report.snapshot = Routes.takePNG.route.path(session: session.id)
        let outcome: ScreenWaitReport.Outcome
        switch end {
        case .happened(let pts, let time, let box):
            outcome = .happened
            report.pts = pts
            report.at = time.wallClockText
            report.staticMs = max(0, (now - time).milliseconds.rounded(places: 1))
            report.box = box.flatMap { $0.isEmpty ? nil : ScreenWaitReport.Box($0) }
        case .ended: outcome = .ended
        case .refused(let problem): throw problem
        case nil:
            let couldTell = query.isForSound ? session.source.isSoundCaptured : isSeen(session)
            outcome = couldTell ? .timeout : .sourceLost
        }
        report.outcome = outcome.rawValue
        session.events.publish(.waitEnded, state: outcome.rawValue)
        return report
    }

    /// Returns whether an agent's source delivers what the session's screen shows.
    @MediaLoop
    private func isSeen(_ session: Session) -> Bool {
        guard let role = session.source.watching, let broadcast = switchboard.broadcast(of: session.device.name) else {
            return false
        }
        return broadcast.agent(role).sourceState == .streaming
    }
}

/// How a wait ends before its time is over.
enum ScreenWaitEnd: Sendable {
    /// The condition is met. The picture with this PTS, µs, of this time showed it first.
    case happened(pts: Int64, time: NIODeadline, box: PictureRegion?)
    /// The session has ended, or the caller is gone.
    case ended
    case refused(Problem)
}

/// A reserved place for a wait on a screen, or for sound.
@MediaLoop
protocol PendingScreenWait: Sendable {
    /// Returns the result, or `nil` if there is none by `time`.
    func end(until time: NIODeadline) async -> ScreenWaitEnd?
    /// Releases the place.
    func leave()
}

/// A wait for frames, which the session's pictures report.
private struct FrameWait: PendingScreenWait {
    let waits: ScreenWaits
    let waiter: ScreenWaits.Waiter
    let condition: ScreenActivity.Condition

    func end(until time: NIODeadline) async -> ScreenWaitEnd? {
        do throws(ScreenWaitFailure) {
            let moment = try await waits.wait(waiter, for: condition, until: time).moment
            return .happened(pts: moment.pts, time: moment.time, box: nil)
        } catch {
            if case .timedOut = error { return nil }
            return .ended
        }
    }

    func leave() { waits.abandon(waiter) }
}

/// A wait for pixels, which an agent compares.
private struct PixelWait: PendingScreenWait {
    let watches: ScreenWatches
    let waiter: ScreenWatches.Waiter
    /// The session's epoch, monotonic ns.
    let epoch: UInt64

    func end(until time: NIODeadline) async -> ScreenWaitEnd? {
        switch await watches.outcome(of: waiter, until: time) {
        case .happened(let captured, let box):
            // The agent's value may be anything.
            let captured = min(captured, NIODeadline.now().uptimeNanoseconds)
            let pts = (Int64(clamping: captured) - Int64(clamping: epoch)) / 1000
            return .happened(pts: pts, time: .uptimeNanoseconds(captured), box: box)
        case .refused(.unknownSession), .ended: return .ended
        case .refused(.busy): return .refused(Problem(.tooManyWaits, "the agent already watches as much as it can"))
        case .refused(.brokenTemplate):
            return .refused(
                Problem(.badTemplate, "the template's PNG is broken, or all of it is transparent", field: "template")
            )
        case .refused(.outside):
            return .refused(
                Problem(.outOfRange, "the region or the template is not within the screen", field: "region")
            )
        case nil: return nil
        }
    }

    func leave() { watches.leave(waiter) }
}

extension Problem {
    /// Why a wait has no place.
    @MediaLoop
    init(_ failure: ScreenWaitFailure, of session: Session) {
        if case .tooMany(let limit) = failure {
            self.init(.tooManyWaits, "\(limit) wait for the session already")
        } else {
            self.init(.unknownSession, "session \(session.id) has ended")
        }
    }
}

extension ScreenWait {
    /// Why its fields do not fit together; `nil` if they do.
    fileprivate var fault: Problem? {
        switch until {
        case .matches, .gone:
            if template == nil {
                return Problem(.missingField, "until=\(until.rawValue) needs a template", field: "template")
            }
            if at == nil { return Problem(.missingField, "template needs a place: at=x,y", field: "at") }
            for (name, isThere) in [("region", region != nil), ("ignore", ignore != nil), ("for", `for` != nil)]
            where isThere {
                return Problem(.unknownField, "\(name) does not go with a template", field: name)
            }
        case .changed, .static, .sound, .silence:
            for (name, isThere) in [("template", template != nil), ("at", at != nil)] where isThere {
                return Problem(.unknownField, "\(name) goes with until=matches and until=gone", field: name)
            }
        }
        if isForSound, comparesPixels || after != nil {
            return Problem(.unknownField, "after and fields that compare pixels do not go with until=\(until.rawValue)")
        }
        if !isForSound, threshold != nil {
            return Problem(.unknownField, "threshold goes with until=sound and until=silence", field: "threshold")
        }
        if after != nil, comparesPixels {
            return Problem(.unknownField, "after does not go with fields that compare pixels", field: "after")
        }
        return nil
    }
}

extension ScreenActivity.Condition {
    /// Reads the condition of a wait.
    ///
    /// - Parameter asked: When the call arrived.
    fileprivate init(_ query: ScreenWait, asked: NIODeadline) {
        let staticTime = TimeAmount(seconds: query.staticTime)
        if query.until == .static {
            self = .static(staticTime, after: query.after)
        } else if let after = query.after {
            self = .changedAfter(after, settled: staticTime)
        } else {
            self = .changed(since: asked, settled: staticTime)
        }
    }
}

extension Watch {
    fileprivate init(_ query: ScreenWait, template: Templates.Template?) {
        let goal: Goal =
            switch query.until {
            case .changed: .changed
            case .static: .static
            case .matches: .matches
            // Sound has no pixels; see `SoundWait`.
            case .gone, .sound, .silence: .gone
            }
        let place = query.at?.place.map { PictureRegion(x: $0.x, y: $0.y, width: 0, height: 0) }
        self.init(
            id: 0,
            goal: goal,
            tolerance: UInt8(clamping: query.tolerance ?? 0),
            share: UInt32(((query.share ?? 0) * Double(Watch.wholeShare)).rounded()),
            settled: UInt32((query.staticTime * 1000).rounded()),
            region: place ?? query.region?.region ?? PictureRegion(x: 0, y: 0, width: 0, height: 0),
            ignored: query.ignore?.regions ?? [],
            template: template?.bytes ?? []
        )
    }
}

extension ScreenWaitReport.Box {
    fileprivate init(_ region: PictureRegion) {
        self.init()
        (x, y, width, height) = (region.x, region.y, region.width, region.height)
    }
}
