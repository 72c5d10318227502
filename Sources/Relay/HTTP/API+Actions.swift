import Access
import HeliographAPI
import Hummingbird
import NIOCore
import Wire

extension API {
    /// How long an agent may take to release everything.
    private static let releaseTime = TimeAmount.seconds(5)
    /// How many characters every desktop takes in a second, at least.
    private static let typingRate = 100

    func addActionRoutes(to routes: inout RouteTable) {
        routes.add(Routes.act) { request, _, context in
            let plan: ActionPlan
            do throws(ActionFault) {
                plan = try request.plan()
            } catch {
                throw Problem(error)
            }
            return try await act(plan, request, context)
        }
        routes.add(Routes.release) { query, _, context in try await release(query, context) }
    }

    @MediaLoop
    private func act(_ plan: ActionPlan, _ request: ActionsRequest, _ context: RelayRequestContext)
        async throws(Problem)
        -> ActionsReport
    {
        let broadcast = try broadcast(context.parameters.get("device"))
        context.audit.note("device", broadcast.device.name)
        context.audit.note("steps", plan.steps.count)
        let session = try await session(of: broadcast, named: request.session, isNeeded: plan.hasPlaces)
        if let session { context.audit.note("session", session.id) }
        let role = session?.inputRole ?? actingRole(of: broadcast)
        let input = try input(of: role, on: broadcast, for: plan.steps)
        let caller = InputControl.Caller(context.caller)
        try claim(broadcast, by: caller, takes: request.take, context)
        defer { broadcast.control.end(of: caller) }
        let limit =
            InputOrders.answerTime + .milliseconds(Int64(plan.milliseconds))
            + .milliseconds(Int64(plan.characters * 1000 / Self.typingRate))
        let outcome = await broadcast.inputs.perform(
            LiveOrder(plan.steps, geometry: request.geometry ?? 0),
            session: session?.id ?? 0,
            by: role,
            within: limit
        ) { [channel = context.channel] in
            !channel.isActive
        }
        if let problem = Problem(outcome, input, device: broadcast.device.name, limit: limit) { throw problem }
        var report = ActionsReport()
        report.device = broadcast.device.name
        report.steps = plan.steps.count
        report.session = session?.id
        if case .done(let began, let at) = outcome {
            // The agent's values may be anything.
            let now = NIODeadline.now().uptimeNanoseconds
            report.at = NIODeadline.uptimeNanoseconds(min(at, now)).wallClockText
            report.startPts = session?.pts(at: min(began, now))
            report.pts = session?.pts(at: min(at, now))
        }
        return report
    }

    /// Begins a call that acts on a device.
    @MediaLoop
    func claim(
        _ broadcast: Broadcast,
        by caller: InputControl.Caller,
        takes: Bool,
        _ context: RelayRequestContext
    ) throws(Problem) {
        switch broadcast.control.claim(by: caller, takes: takes) {
        case .granted(nil): break
        case .granted(let former?): context.audit.note("takenFrom", former.description)
        case .refused(let other): throw .controlled(by: other, device: broadcast.device.name)
        }
    }

    /// Returns the agent that acts on a device without regard to a session: the one that feeds its sessions, else one
    /// that is linked.
    @MediaLoop
    func actingRole(of broadcast: Broadcast) -> AgentRole {
        let sessions = switchboard.sessions.sessions(of: broadcast.device.name)
        if let feeding = sessions.lazy.compactMap(\.source.current).first { return feeding }
        return AgentRole.allCases.first { broadcast.agent($0).link != nil } ?? .primary
    }

    /// Returns what the agent of a role says that it can do, if it may be able to perform steps.
    @MediaLoop
    private func input(of role: AgentRole, on broadcast: Broadcast, for steps: [InputStep]) throws(Problem)
        -> InputCapabilities
    {
        let agent = broadcast.agent(role)
        guard agent.link != nil else {
            throw Problem(.noSource, "no agent of device \(broadcast.device.name) is linked: start the broadcast first")
        }
        guard let input = agent.inputs else {
            throw .noInput("the agent has not said how it can act: it has just started, or is of an older release", nil)
        }
        if let objection = input.objection(to: steps) { throw .noInput(objection, input) }
        return input
    }

    /// Returns the session whose pixels places are: the named one, or the device's shared or only one.
    ///
    /// - Parameters:
    ///   - name: Its id or name; `nil` for the default.
    ///   - isNeeded: Whether there must be one. The device's shared session may then be started.
    @MediaLoop
    private func session(of broadcast: Broadcast, named name: String?, isNeeded: Bool) async throws(Problem) -> Session?
    {
        let device = broadcast.device.name
        if let name {
            let named = switchboard.sessions.session(named: name, of: device)
            let numbered = UInt32(name).flatMap { switchboard.sessions[$0] }
            guard let session = named ?? numbered, session.device.name == device else {
                throw Problem(
                    .unknownSession,
                    "device \(device) has no session \(name): list the sessions to see which run",
                    field: "session"
                )
            }
            session.touch()
            return session
        }
        func usual() -> Session? {
            // Those with smaller pictures of another one do not count.
            let all = switchboard.sessions.sessions(of: device).filter { $0.layers.whole == nil }
            return switchboard.sessions.session(named: SharedSession.name, of: device)
                ?? (all.count == 1 ? all.first : nil)
        }
        if let session = usual() {
            session.touch()
            return session
        }
        guard isNeeded else { return nil }
        if broadcast.device.isOnDemand {
            do throws(SharedSession.Failure) {
                try await SharedSession.start(on: broadcast, of: switchboard)
            } catch {
                throw Problem(error, on: broadcast)
            }
        }
        guard let session = usual() else {
            let several = !switchboard.sessions.sessions(of: device).isEmpty
            throw Problem(
                .unknownSession,
                several
                    ? "device \(device) has several sessions: name the one whose pixels the places are"
                    : "device \(device) has no session whose pixels the places could be: start one first",
                field: "session"
            )
        }
        session.touch()
        return session
    }

    @MediaLoop
    private func release(_ query: ReleaseQuery, _ context: RelayRequestContext) async throws(Problem) -> ReleaseReport {
        let broadcast = try broadcast(context.parameters.get("device"))
        context.audit.note("device", broadcast.device.name)
        let caller = InputControl.Caller(context.caller)
        try claim(broadcast, by: caller, takes: query.take, context)
        defer {
            broadcast.control.end(of: caller)
            broadcast.control.leave(caller)
        }
        let roles = AgentRole.allCases.filter { broadcast.agent($0).inputs != nil }
        let outcomes = await broadcast.inputs.release(roles, within: Self.releaseTime)
        if outcomes.contains(.timeout) {
            throw Problem(
                .inputTimeout,
                "the agent did not answer within \(Self.releaseTime.seconds) s; it releases everything 2 s after the last actions"
            )
        }
        var report = ReleaseReport()
        report.device = broadcast.device.name
        // An agent without a backend holds nothing, nor does one that is gone.
        report.released = outcomes.contains { if case .done = $0 { true } else { false } }
        return report
    }
}

extension InputControl.Caller {
    init(_ caller: Caller) { self = caller.key.map { .key($0.name) } ?? .local }
}
