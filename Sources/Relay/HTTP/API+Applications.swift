import FoundationEssentials
import HeliographAPI
import Hummingbird
import NIOCore
import Program
import Wire

extension API {
    func addApplicationRoutes(to routes: inout RouteTable) {
        routes.add(Routes.launchApplication) { request, _, context in try await launch(request, context) }
        routes.add(Routes.listApplications) { _, _, context in try await listApplications(context) }
        routes.add(Routes.focusApplication) { request, _, context in try await focus(take: request.take, context) }
        routes.add(Routes.terminateApplication) { query, _, context in try await terminate(take: query.take, context) }
    }

    @MediaLoop
    private func launch(_ request: LaunchRequest, _ context: RelayRequestContext) async throws(Problem)
        -> ApplicationReport
    {
        let broadcast = try broadcast(context.parameters.get("device"))
        context.audit.note("device", broadcast.device.name)
        var launch = try broadcast.device.launch(request)
        let name = request.name ?? request.desktopFile ?? ""
        context.audit.note("application", name)
        if request.wait { launch.windowTime = Int(request.timeout * 1000) }
        guard launch.textLength <= ApplicationOrder.maximumText else {
            throw Problem(
                .applicationFailed,
                "the command and the environment of \(name) have more than \(ApplicationOrder.maximumText) bytes"
            )
        }
        let role = try role(on: broadcast)
        return try await controlling(broadcast, take: request.take, context) { () async throws(Problem) in
            guard broadcast.applications.isOpen else {
                throw Problem(.noSource, "the broadcast is being stopped: start it first")
            }
            guard let application = await broadcast.applications.add(name) else {
                throw Problem(
                    .tooManyApplications,
                    "\(Applications.maximumCount) applications run on device \(broadcast.device.name): terminate one first"
                )
            }
            context.audit.note("id", application.id)
            // So that a relay which is killed meanwhile can still end it.
            await switchboard.keepState()
            let outcome = await broadcast.applications.launch(application, launch, by: role)
            await switchboard.keepState()
            if let problem = Problem(outcome) { throw problem }
            return try report(application.id, of: broadcast)
        }
    }

    @MediaLoop
    private func listApplications(_ context: RelayRequestContext) async throws(Problem) -> ApplicationList {
        let broadcast = try broadcast(context.parameters.get("device"))
        context.audit.note("device", broadcast.device.name)
        await broadcast.applications.look()
        var list = ApplicationList()
        list.applications = broadcast.applications.all.map { ApplicationReport($0, of: broadcast.device.name) }
        if broadcast.device.input != .off {
            list.launchable = broadcast.device.applications.keys.sorted()
            list.desktopFiles = broadcast.device.allowsDesktopFiles
        }
        return list
    }

    @MediaLoop
    private func focus(take: Bool, _ context: RelayRequestContext) async throws(Problem) -> ApplicationReport {
        let (broadcast, application) = try application(context)
        let role = try role(on: broadcast)
        return try await controlling(broadcast, take: take, context) { () async throws(Problem) in
            let outcome = await broadcast.applications.focus(application, by: role)
            if let problem = Problem(outcome) { throw problem }
            return try report(application.id, of: broadcast)
        }
    }

    @MediaLoop
    private func terminate(take: Bool, _ context: RelayRequestContext) async throws(Problem) -> ApplicationReport {
        let (broadcast, application) = try application(context)
        return try await controlling(broadcast, take: take, context) { () async throws(Problem) in
            let outcome = await broadcast.applications.end([application.id])
            await switchboard.keepState()
            if let problem = Problem(outcome) { throw problem }
            return try report(application.id, of: broadcast)
        }
    }

    // MARK: The call

    /// Returns the device's broadcast and the application in the path.
    @MediaLoop
    private func application(_ context: RelayRequestContext) throws(Problem) -> (Broadcast, Applications.Application) {
        let broadcast = try broadcast(context.parameters.get("device"))
        context.audit.note("device", broadcast.device.name)
        let id = context.parameters.get("application") ?? ""
        guard let application = broadcast.applications[id] else { throw Self.unknown(id) }
        context.audit.note("application", application.name)
        context.audit.note("id", application.id)
        return (broadcast, application)
    }

    private static func unknown(_ id: String) -> Problem {
        Problem(
            .unknownApplication,
            "no application with the id '\(id)' was launched on this device: list the applications to see which were"
        )
    }

    @MediaLoop
    private func report(_ id: String, of broadcast: Broadcast) throws(Problem) -> ApplicationReport {
        guard let application = broadcast.applications[id] else { throw Self.unknown(id) }
        return ApplicationReport(application, of: broadcast.device.name)
    }

    /// Runs a call of the caller that controls the device.
    @MediaLoop
    private func controlling(
        _ broadcast: Broadcast,
        take: Bool,
        _ context: RelayRequestContext,
        _ body: @MediaLoop () async throws(Problem) -> ApplicationReport
    ) async throws(Problem) -> ApplicationReport {
        let caller = InputControl.Caller(context.caller)
        try claim(broadcast, by: caller, takes: take, context)
        defer { broadcast.control.end(of: caller) }
        return try await body()
    }

    /// Returns the role of an agent that may launch and focus on the device's desktop.
    @MediaLoop
    private func role(on broadcast: Broadcast) throws(Problem) -> AgentRole {
        let device = broadcast.device
        guard device.input != .off else {
            throw .noInput("nothing may act on device \(device.name): its input is off", broadcast.agent.inputs)
        }
        guard let role = AgentRole.allCases.first(where: { broadcast.agent($0).link != nil }) else {
            throw Problem(.noSource, "no agent of device \(device.name) is linked: start the broadcast first")
        }
        return role
    }
}

extension DeviceConfiguration {
    /// Returns what a caller may launch.
    fileprivate func launch(_ request: LaunchRequest) throws(Problem) -> ApplicationLaunch {
        switch (request.name, request.desktopFile) {
        case (nil, nil):
            throw Problem(.missingField, "name is missing, or desktopFile in its place", field: "name")
        case (.some, .some):
            throw Problem(.unknownField, "name and desktopFile exclude each other", field: "desktopFile")
        case (nil, let file?):
            guard allowsDesktopFiles else {
                throw Problem(
                    .unknownApplication,
                    "the configuration of device \(name) allows no desktop files: set desktopFiles to true",
                    field: "desktopFile"
                )
            }
            if request.arguments?.isEmpty == false {
                throw Problem(.unknownField, "a desktop file takes no arguments", field: "arguments")
            }
            return ApplicationLaunch(desktopFile: file)
        case (let wanted?, nil):
            let names = applications.keys.sorted()
            guard let application = applications[wanted] else {
                let allowed =
                    names.isEmpty
                    ? "The configuration of device \(name) allows none: list them as applications."
                    : "Allowed: \(names.joined(separator: ", "))."
                let question = NearestWord.question(for: wanted, among: names)
                throw Problem(
                    .unknownApplication,
                    "Unknown application '\(wanted)'.\(question) \(allowed)",
                    field: "name"
                )
            }
            let arguments = request.arguments ?? []
            guard arguments.isEmpty || application.takesArguments else {
                throw Problem(
                    .unknownField,
                    "the configuration allows no arguments for \(wanted): set its arguments to true",
                    field: "arguments"
                )
            }
            return ApplicationLaunch(
                command: application.command + arguments,
                directory: application.directory,
                environment: application.environment
            )
        }
    }
}

extension ApplicationReport {
    fileprivate init(_ application: Applications.Application, of device: String) {
        self.init()
        self.device = device
        id = application.id
        name = application.name
        running = !application.hasEnded
        started = application.started.apiText
        pid = application.process.map { Int($0.pid) }
        exitStatus = application.status
        signal = application.signal
    }
}

extension Problem {
    /// Creates the problem of an order that an agent has not carried out; `nil` if it has.
    fileprivate init?(_ outcome: Applications.Outcome) {
        switch outcome {
        case .done: return nil
        case .lost: self.init(.applicationFailed, "the agent was lost before it answered")
        case .timeout: self.init(.applicationTimeout, "the agent did not answer in time, or is of an older release")
        case .refused(let refusal, let detail):
            let code: Code =
                switch refusal {
                case .unknownFile: .unknownApplication
                case .noWindow: .noWindow
                case .late: .applicationTimeout
                case .noWindowControl: .noWindowControl
                case .notStarted, .ended, .busy, .failed: .applicationFailed
                }
            self.init(code, detail.isEmpty ? "the agent gives no reason" : detail)
        }
    }
}
