import HeliographAPI
import NIOCore
import Wire

extension API {
    func addBroadcastRoutes(to routes: inout RouteTable) {
        routes.add(Routes.startBroadcast) { try await start($0, $2) }
        routes.add(Routes.getBroadcast) { arguments, _, _ in try await status(device: arguments.device) }
        routes.add(Routes.listBroadcasts) { _, _, context in BroadcastList(await summaries(for: context.caller)) }
        routes.add(Routes.stopBroadcast) { try await stop($0, $2) }
    }

    @MediaLoop
    private func start(_ arguments: BroadcastStart, _ context: RelayRequestContext) async throws(Problem)
        -> StartedBroadcast
    {
        let broadcast = try broadcast(arguments.device)
        context.audit.note("device", broadcast.device.name)
        do {
            let timings = try await broadcast.start(
                source: arguments.source,
                timeout: arguments.timeout.map { TimeAmount(seconds: $0) },
                ttl: arguments.ttl
            )
            await switchboard.keepState()
            return StartedBroadcast(broadcast, timings: timings)
        } catch {
            await switchboard.keepState()
            throw Problem(error, device: broadcast.device.name, fallback: broadcast.fallback?.kind.rawValue)
        }
    }

    private func status(device: String?) async throws(Problem) -> BroadcastReport {
        let (name, broadcast, standby, controller, audio, microphone, sessions) = try await readings(device: device)
        var report = BroadcastReport(
            device: name,
            broadcast,
            standby: standby,
            sessions: await reports(of: sessions),
            tls: tls
        )
        report.controller = controller
        report.audio = audio
        report.microphone = microphone
        return report
    }

    @MediaLoop
    private func readings(device: String?) throws(Problem) -> (
        name: String, AgentReading, standby: AgentReading, controller: String?, audio: AudioReport?,
        microphone: MicrophoneReport?, sessions: [SessionID]
    ) {
        let broadcast = try broadcast(device)
        let sessions = switchboard.sessions.sessions(of: broadcast.device.name)
        return (
            broadcast.device.name, .init(broadcast.agent), .init(broadcast.standby),
            broadcast.control.holder?.description, AudioReport(broadcast), MicrophoneReport(broadcast),
            sessions.map(\.id)
        )
    }

    @MediaLoop
    private func summaries(for caller: Caller) -> [BroadcastSummary] {
        switchboard.allBroadcasts.filter { caller.reaches($0.device.name) }.map { broadcast in
            BroadcastSummary(broadcast, sessions: switchboard.sessions.sessions(of: broadcast.device.name))
        }
    }

    @MediaLoop
    private func stop(
        _ arguments: BroadcastStop,
        _ context: RelayRequestContext
    ) async throws(Problem) -> StoppedBroadcast {
        let broadcast = try broadcast(arguments.device)
        context.audit.note("device", broadcast.device.name)
        var report = StoppedBroadcast()
        report.wasRunning = broadcast.machine.state != .idle
        await broadcast.stop(reason: "the broadcast was stopped", keepsStandby: arguments.keepScreenshots)
        await switchboard.keepState()
        report.device = broadcast.device.name
        report.state = broadcast.machine.state.rawValue
        report.screenshots = broadcast.fallback != nil
        return report
    }
}
