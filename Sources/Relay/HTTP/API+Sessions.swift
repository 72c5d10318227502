import Hummingbird
import Wire

extension API {
    func addSessionRoutes(to routes: inout RouteTable) {
        routes.add(.post, "/screencapture/start", for: .operator) { request, context in
            let (device, session) = try await Self.arguments(request) { ($0.device(), SessionRequest(&$0)) }
            return Answer.json(try await startSession(session, device: device, context), status: .created)
        }
        routes.add(.get, "/screencapture", for: .viewer) { _, _ in
            Answer.json(["sessions": .array(await reports(of: await sessionIDs()))])
        }
        routes.add(.get, "/screencapture/{id}", for: .viewer) { _, context in
            Answer.json(try await report(context))
        }
        routes.add(.patch, "/screencapture/{id}", for: .operator) { request, context in
            let change = try await Self.arguments(request) { SessionChange(&$0) }
            return Answer.json(try await changeSession(context, change))
        }
        routes.add(.post, "/screencapture/{id}/keyframe", for: .operator) { request, context in
            try await Self.noArguments(request)
            return Answer.json(try await requestKeyframe(context), status: .accepted)
        }
        routes.add(.post, "/screencapture/{id}/stop", for: .operator) { request, context in
            try await Self.noArguments(request)
            return Answer.json(try await stopSession(context))
        }
        routes.add(.post, "/screencapture/stop", for: .operator, query: ["device"]) { request, context in
            let device = try await Self.deviceArgument(request)
            return Answer.json(["stopped": .integer(try await stopAll(of: device, context))])
        }
    }

    @MediaLoop
    private func startSession(
        _ request: SessionRequest,
        device: String?,
        _ context: RelayRequestContext
    ) async throws(Problem) -> JSONValue {
        let broadcast = try broadcast(device)
        context.audit.note("device", broadcast.device.name)
        do {
            let session = try await switchboard.startSession(request, on: broadcast)
            context.audit.note("session", session.id)
            return SessionReport.json(session, of: broadcast)
        } catch {
            throw Problem(error)
        }
    }

    /// One at a time, from another thread, so that the media loop looks at its sockets between them: hundreds of reports take longer than
    /// pictures may wait.
    func reports(of sessions: [SessionID]) async -> [JSONValue] {
        var reports: [JSONValue] = []
        for id in sessions {
            if let report = await report(of: id) { reports.append(report) }
        }
        return reports
    }

    @MediaLoop
    private func sessionIDs() -> [SessionID] { switchboard.sessions.all.map(\.id) }

    /// Nil where the session has ended.
    @MediaLoop
    private func report(of id: SessionID) -> JSONValue? {
        switchboard.sessions[id].map(report)
    }

    @MediaLoop
    private func report(_ context: RelayRequestContext) throws(Problem) -> JSONValue { report(try session(context)) }

    @MediaLoop
    private func report(_ session: Session) -> JSONValue {
        SessionReport.json(session, of: switchboard.broadcast(of: session.device.name))
    }

    @MediaLoop
    private func changeSession(_ context: RelayRequestContext, _ change: SessionChange) async throws(Problem)
        -> JSONValue
    {
        let session = try session(context)
        await switchboard.changeSession(session, change)
        return report(session)
    }

    @MediaLoop
    private func requestKeyframe(_ context: RelayRequestContext) throws(Problem) -> JSONValue {
        let session = try session(context)
        do {
            return ["id": JSONValue(session.id), "request": JSONValue(try session.source.requestKeyframe())]
        } catch {
            if case .noSource = error, !session.source.isDemanded {
                throw Problem(.noSource, "session \(session.id) is asleep: watch it first")
            }
            throw Problem(error)
        }
    }

    @MediaLoop
    private func stopSession(_ context: RelayRequestContext) async throws(Problem) -> JSONValue {
        let session = try session(context)
        await switchboard.stop([session])
        return ["id": JSONValue(session.id), "stopped": true]
    }

    /// Stops the device's sessions, or all when none is named.
    @MediaLoop
    private func stopAll(of device: String?, _ context: RelayRequestContext) async throws(Problem) -> Int {
        let name = try device.map(broadcast)?.device.name
        context.audit.note("device", name ?? "all")
        let sessions = name.map(switchboard.sessions.sessions(of:)) ?? switchboard.sessions.all
        await switchboard.stop(sessions)
        return sessions.count
    }
}
