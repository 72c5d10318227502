import HTTPTypes
import Hummingbird
import NIOCore

extension API {
    func addWaitRoute(to routes: inout RouteTable) {
        routes.add(.get, "/screencapture/{id}/wait", for: .viewer, query: nil) { request, context in
            try Self.noBody(request)
            let arguments = try Self.query(request) { WaitArguments(&$0) }
            do {
                var answer = Answer.json(try await wait(arguments, request, context))
                answer.headers[.connection] = "close"
                return answer
            } catch var problem as Problem {
                problem.headers[.connection] = "close"
                throw problem
            }
        }
    }

    @MediaLoop
    private func wait(_ arguments: WaitArguments, _ request: Request, _ context: RelayRequestContext) async throws
        -> JSONValue
    {
        let asked = NIODeadline.now()
        let session = try session(context)
        do {
            let waits = session.screenWaits
            let waiter = try waits.join()
            // A client that leaves gives its place back, and so does one that left before anybody began to wait.
            defer { waits.abandon(waiter) }
            let result = try await request.body.consumeWithInboundCloseHandler { _ in
                try await waits.wait(waiter, for: arguments.condition(asked: asked), until: asked + arguments.timeout)
            } onInboundClosed: {
                Task { @MediaLoop in waits.abandon(waiter) }
            }
            return [
                "id": JSONValue(session.id),
                "until": .string(arguments.goal.rawValue),
                "pts": .integer(Int(result.moment.pts)),
                "at": .string(BroadcastReport.wallClock(of: result.moment.time)),
                "stillMs": .number((result.time - result.moment.time).milliseconds.rounded(places: 1)),
                "waitedMs": .number((result.time - asked).milliseconds.rounded(places: 1)),
            ]
        } catch let failure as ScreenWaitFailure {
            throw Problem(failure, arguments, session: session)
        }
    }
}

/// The query of a call that waits for a session's screen.
package struct WaitArguments: Sendable {
    enum Goal: String, Sendable {
        case changed, still
    }

    private static let defaultTimeout = 30.0
    private static let defaultStillness = 1.0

    let goal: Goal
    let timeout: TimeAmount
    /// How long the screen must be unchanged.
    let stillness: TimeAmount
    /// Only what pictures after this PTS show counts, µs; nil for changes from the call on, and for any stillness.
    let after: Int64?

    package init?(_ reader: inout ObjectReader) {
        reader.require("until")
        let goal = reader.word("until", oneOf: "changed or still", parse: Goal.init)
        let timeout = reader.number("timeout", in: 0...600) ?? Self.defaultTimeout
        let stillness = reader.number("for", in: 0...600)
        let after = reader.integer("after", in: 0...Int.max)
        reader.finish()
        guard let goal else { return nil }
        self.goal = goal
        self.after = after.map(Int64.init)
        self.timeout = TimeAmount(seconds: timeout)
        self.stillness = TimeAmount(seconds: stillness ?? (goal == .still ? Self.defaultStillness : 0))
    }

    /// - Parameter asked: When the call came.
    func condition(asked: NIODeadline) -> ScreenActivity.Condition {
        switch goal {
        case .changed: after.map { .changedAfter($0, settled: stillness) } ?? .changed(since: asked, settled: stillness)
        case .still: .still(stillness, after: after)
        }
    }
}
