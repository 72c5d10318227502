import HTTPTypes
import HeliographAPI
import Hummingbird
import NIOCore

extension API {
    func addWaitRoutes(to routes: inout RouteTable) {
        routes.respond(to: Routes.waitForScreen) { try await wait($0, $1, $2) }
        routes.respond(to: Routes.waitForPicture) { query, request, context in
            do {
                var answer = try Answer.json(try await wait(query, request, context))
                answer.headers[.connection] = "close"
                return answer
            } catch var problem as Problem {
                problem.headers[.connection] = "close"
                throw problem
            }
        }
    }

    @MediaLoop
    private func wait(_ query: WaitQuery, _ request: Request, _ context: RelayRequestContext) async throws
        -> ScreenEvent
    {
        let asked = NIODeadline.now()
        let session = try session(context)
        do {
            let waits = session.screenWaits
            let waiter = try waits.join()
            // Releases the place when a client leaves, even before the wait began.
            defer { waits.abandon(waiter) }
            let result = try await request.body.consumeWithInboundCloseHandler { _ in
                let limit = asked + TimeAmount(seconds: query.timeout)
                return try await waits.wait(waiter, for: .init(query, asked: asked), until: limit)
            } onInboundClosed: {
                Task { @MediaLoop in waits.abandon(waiter) }
            }
            var event = ScreenEvent()
            event.id = session.id
            event.until = query.until.rawValue
            event.pts = result.moment.pts
            event.at = result.moment.time.wallClockText
            event.staticMs = (result.time - result.moment.time).milliseconds.rounded(places: 1)
            event.waitedMs = (result.time - asked).milliseconds.rounded(places: 1)
            return event
        } catch let failure as ScreenWaitFailure {
            throw Problem(failure, query, session: session)
        }
    }
}

extension ScreenActivity.Condition {
    /// Reads the condition of a wait.
    ///
    /// - Parameter asked: When the call arrived.
    fileprivate init(_ query: WaitQuery, asked: NIODeadline) {
        let staticTime = TimeAmount(seconds: query.staticTime)
        self =
            switch query.until {
            case .changed:
                query.after.map { .changedAfter($0, settled: staticTime) }
                    ?? .changed(since: asked, settled: staticTime)
            case .static: .static(staticTime, after: query.after)
            }
    }
}
