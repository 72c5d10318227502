import HeliographAPI
import Wire

extension API {
    func addSessionRoutes(to routes: inout RouteTable) {
        routes.add(Routes.startSession) { try await startSession($0, $2) }
        routes.add(Routes.listSessions) { _, _, _ in SessionList(await reports(of: await sessionIDs())) }
        routes.add(Routes.getSession) { _, _, context in try await report(context) }
        routes.add(Routes.changeSession) { try await changeSession($2, $0) }
        routes.add(Routes.requestKeyframe) { _, _, context in try await requestKeyframe(context) }
        routes.add(Routes.stopSession) { _, _, context in try await stopSession(context) }
        routes.add(Routes.stopSessions) { try await stopAll(of: $0.device, $2) }
    }

    @MediaLoop
    private func startSession(_ start: SessionStart, _ context: RelayRequestContext) async throws(Problem)
        -> SessionReport
    {
        let broadcast = try broadcast(start.device)
        context.audit.note("device", broadcast.device.name)
        do {
            let session = try await switchboard.startSession(start.session, on: broadcast)
            context.audit.note("session", session.id)
            return SessionReport(session, of: broadcast)
        } catch {
            throw Problem(error)
        }
    }

    /// One at a time, from another thread, so that the media loop looks at its sockets between them: hundreds of reports take longer than
    /// pictures may wait.
    func reports(of sessions: [SessionID]) async -> [SessionReport] {
        var reports: [SessionReport] = []
        for id in sessions {
            if let report = await report(of: id) { reports.append(report) }
        }
        return reports
    }

    @MediaLoop
    private func sessionIDs() -> [SessionID] { switchboard.sessions.all.map(\.id) }

    /// Nil where the session has ended.
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
        await switchboard.changeSession(session, change)
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

    /// Stops the device's sessions, or all when none is named.
    @MediaLoop
    private func stopAll(of device: String?, _ context: RelayRequestContext) async throws(Problem) -> StoppedSessions {
        let name = try device.map(broadcast)?.device.name
        context.audit.note("device", name ?? "all")
        let sessions = name.map(switchboard.sessions.sessions(of:)) ?? switchboard.sessions.all
        await switchboard.stop(sessions)
        var report = StoppedSessions()
        report.stopped = sessions.count
        return report
    }
}
