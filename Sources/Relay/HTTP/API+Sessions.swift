import Access
import HTTPTypes
import HeliographAPI
import Hummingbird
import Program
import Wire

extension API {
    func addSessionRoutes(to routes: inout RouteTable) {
        routes.add(Routes.startSession) { try await startSession($0, $2) }
        routes.respond(to: Routes.putSession) { try await putSession($0, $1, $2) }
        routes.add(Routes.deleteSession) { _, _, context in try await deleteSession(context) }
        routes.respond(to: Routes.listSessions) { query, _, context in try await list(query, context.caller) }
        routes.respond(to: Routes.listAllSessions) { _, _, context in
            try await list(SessionListQuery(), context.caller)
        }
        routes.add(Routes.getSession) { _, _, context in try await report(context) }
        routes.add(Routes.changeSession) { try await changeSession($2, $0) }
        routes.add(Routes.requestKeyframe) { _, _, context in try await requestKeyframe(context) }
        routes.add(Routes.stopSession) { _, _, context in try await stopSession(context) }
        routes.add(Routes.stopSessions) { arguments, _, context in
            guard arguments.device != nil || arguments.all == true else {
                throw Problem(
                    .missingField,
                    "name the device whose sessions to end, or set \"all\": true",
                    field: "device"
                )
            }
            return try await stopAll(of: arguments.device, context)
        }
        routes.add(Routes.stopAllSessions) { try await stopAll(of: $0.device, $2) }
    }

    @MediaLoop
    private func startSession(_ start: SessionStart, _ context: RelayRequestContext) async throws(Problem)
        -> SessionReport
    {
        let broadcast = try broadcast(start.device)
        context.audit.note("device", broadcast.device.name)
        if start.session.record { try access.require(.record, of: context.caller) }
        do {
            let session = try await switchboard.startSession(
                start.session,
                on: broadcast,
                by: context.caller.keyName
            )
            context.audit.note("session", session.id)
            return SessionReport(session, of: broadcast)
        } catch {
            throw Problem(error)
        }
    }

    @MediaLoop
    private func putSession(_ asked: SessionRequest, _ request: Request, _ context: RelayRequestContext) async throws
        -> Response
    {
        let broadcast = try broadcast(context.parameters.get("device"))
        let name = context.parameters.get("name") ?? ""
        context.audit.note("device", broadcast.device.name)
        guard name.isName else {
            throw Problem(
                .unknownValue,
                "name is \"\(name)\"; allowed: \(String.nameRule)",
                field: "name"
            )
        }
        let former = switchboard.sessions.session(named: name, of: broadcast.device.name)?.request
        if asked.changesRecording(of: former) { try access.require(.record, of: context.caller) }
        let (session, isNew): (Session, Bool)
        do {
            (session, isNew) = try await switchboard.putSession(
                name,
                asked,
                on: broadcast,
                by: context.caller.keyName
            )
        } catch {
            throw Problem(error)
        }
        session.touch()
        context.audit.note("session", session.id)
        var answer = try Answer.json(report(session), status: isNew ? 201 : 200)
        if isNew { answer.headers[.location] = request.uri.path }
        return answer
    }

    @MediaLoop
    private func deleteSession(_ context: RelayRequestContext) async throws(Problem) -> StoppedSessions {
        let device = try broadcast(context.parameters.get("device")).device.name
        context.audit.note("device", device)
        let session = switchboard.sessions.session(named: context.parameters.get("name") ?? "", of: device)
        var report = StoppedSessions()
        guard let session else { return report }
        context.audit.note("session", session.id)
        await switchboard.stop([session])
        report.stopped = 1
        return report
    }

    private func list(_ query: SessionListQuery, _ caller: Caller) async throws -> Response {
        let ids = await sessionIDs(query, caller)
        if query.brief { return try Answer.json(BriefSessionList(await briefReports(of: ids))) }
        return try Answer.json(SessionList(await reports(of: ids)))
    }

    @MediaLoop
    private func briefReports(of sessions: [SessionID]) -> [BriefSession] {
        sessions.compactMap { switchboard.sessions[$0].map { BriefSession($0) } }
    }

    /// Returns the reports of sessions.
    ///
    /// It reads them one at a time from another thread, so that the media loop serves its sockets in between: hundreds
    /// of reports take longer than pictures may wait.
    func reports(of sessions: [SessionID]) async -> [SessionReport] {
        var reports: [SessionReport] = []
        for id in sessions {
            if let report = await report(of: id) { reports.append(report) }
        }
        return reports
    }

    @MediaLoop
    private func sessionIDs(_ query: SessionListQuery, _ caller: Caller) -> [SessionID] {
        switchboard.sessions.all.filter { session in
            caller.reaches(session.device.name) && (query.device ?? session.device.name) == session.device.name
                && (query.name == nil || query.name == session.name)
                && (query.label == nil || query.label == session.request.label)
                && (query.state == nil || query.state == session.state.rawValue)
        }.map(\.id)
    }

    /// Returns a session's report; `nil` if it has ended.
    @MediaLoop
    private func report(of id: SessionID) -> SessionReport? {
        switchboard.sessions[id].map(report)
    }

    @MediaLoop
    private func report(_ context: RelayRequestContext) throws(Problem) -> SessionReport {
        report(try session(context))
    }

    @MediaLoop
    private func report(_ session: Session) -> SessionReport {
        SessionReport(session, of: switchboard.broadcast(of: session.device.name))
    }

    @MediaLoop
    private func changeSession(_ context: RelayRequestContext, _ change: SessionChange) async throws(Problem)
        -> SessionReport
    {
        let session = try session(context)
        let request = change.applied(to: session.request)
        if request.changesRecording(of: session.request) { try access.require(.record, of: context.caller) }
        do {
            try await switchboard.changeSession(session, to: request, by: context.caller.keyName)
        } catch {
            throw Problem(error)
        }
        return report(session)
    }

    @MediaLoop
    private func requestKeyframe(_ context: RelayRequestContext) throws(Problem) -> KeyframeRequested {
        let session = try session(context)
        var report = KeyframeRequested()
        report.id = session.id
        do {
            report.request = try session.source.requestKeyframe()
        } catch {
            if case .noSource = error, !session.source.isDemanded {
                throw Problem(.noSource, "session \(session.id) is asleep: watch it first")
            }
            throw Problem(error)
        }
        return report
    }

    @MediaLoop
    private func stopSession(_ context: RelayRequestContext) async throws(Problem) -> StoppedSession {
        let session = try session(context)
        await switchboard.stop([session])
        var report = StoppedSession()
        report.id = session.id
        return report
    }

    /// Stops the device's sessions, or those of all devices that the caller's key reaches if no device is named.
    @MediaLoop
    private func stopAll(of device: String?, _ context: RelayRequestContext) async throws(Problem) -> StoppedSessions {
        let name = try device.map(broadcast)?.device.name
        let caller = context.caller
        context.audit.note("device", name ?? caller.devices?.joined(separator: ",") ?? "all")
        let sessions =
            name.map(switchboard.sessions.sessions(of:))
            ?? switchboard.sessions.all.filter { caller.reaches($0.device.name) }
        await switchboard.stop(sessions)
        var report = StoppedSessions()
        report.stopped = sessions.count
        return report
    }
}

extension SessionRequest {
    /// Whether it begins, ends or pauses the recording of a session with a former request; `nil` if there is none.
    fileprivate func changesRecording(of former: SessionRequest?) -> Bool {
        record != (former?.record ?? false) || record && recordWhen != (former ?? self).recordWhen
    }
}
