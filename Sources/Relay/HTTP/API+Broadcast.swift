import Hummingbird

extension API {
    func addBroadcastRoutes(to routes: inout RouteTable) {
        routes.add(.post, "/screencapture/broadcast/start") { request, _ in
            let arguments = try await Self.arguments(request) { BroadcastArguments(&$0) }
            return Answer.json(try await start(arguments))
        }
        routes.add(.get, "/screencapture/broadcast") { request, _ in
            let device = try Self.deviceQuery(request)
            return Answer.json(try await status(device: device))
        }
        routes.add(.get, "/screencapture/broadcasts") { _, _ in
            Answer.json(["broadcasts": .array(await summaries())])
        }
        routes.add(.post, "/screencapture/broadcast/stop") { request, _ in
            Answer.json(try await stop(device: try await Self.deviceArgument(request)))
        }
    }

    @MediaLoop
    private func start(_ arguments: BroadcastArguments) async throws(Problem) -> JSONValue {
        let broadcast = try broadcast(arguments.device)
        do {
            let timings = try await broadcast.start(source: arguments.source, timeout: arguments.timeout)
            await switchboard.keepState()
            return BroadcastReport.started(broadcast, timings: timings)
        } catch {
            await switchboard.keepState()
            throw Problem(error, device: broadcast.device.name, fallback: broadcast.fallback?.kind.rawValue)
        }
    }

    @MediaLoop
    private func status(device: String?) throws(Problem) -> JSONValue {
        let broadcast = try broadcast(device)
        return BroadcastReport.status(broadcast, sessions: switchboard.sessions.sessions(of: broadcast.device.name))
    }

    @MediaLoop
    private func summaries() -> [JSONValue] {
        switchboard.allBroadcasts.map { broadcast in
            BroadcastReport.summary(broadcast, sessions: switchboard.sessions.sessions(of: broadcast.device.name))
        }
    }

    @MediaLoop
    private func stop(device: String?) async throws(Problem) -> JSONValue {
        let broadcast = try broadcast(device)
        let wasRunning = broadcast.machine.state != .idle
        await broadcast.stop(reason: "the broadcast was stopped")
        await switchboard.keepState()
        return [
            "device": .string(broadcast.device.name), "state": .string(broadcast.machine.state.rawValue),
            "wasRunning": .bool(wasRunning),
        ]
    }

    private static func deviceQuery(_ request: Request) throws(Problem) -> String? {
        var device: String?
        for (name, value) in request.uri.queryParameters {
            guard name == "device" else {
                throw Problem(.unknownField, "there is no query parameter \(name) here", field: String(name))
            }
            device = String(value)
        }
        return device
    }
}
