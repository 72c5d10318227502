import Hummingbird
import NIOCore
import Wire

extension API {
    func addBroadcastRoutes(to routes: inout RouteTable) {
        routes.add(.post, "/screencapture/broadcast/start", for: .operator) { request, context in
            let arguments = try await Self.arguments(request) { BroadcastArguments(&$0) }
            return Answer.json(try await start(arguments, context))
        }
        routes.add(.get, "/screencapture/broadcast", for: .viewer, query: nil) { request, _ in
            let device = try Self.deviceQuery(request)
            return Answer.json(try await status(device: device))
        }
        routes.add(.get, "/screencapture/broadcasts", for: .viewer) { _, _ in
            Answer.json(["broadcasts": .array(await summaries())])
        }
        routes.add(.post, "/screencapture/broadcast/stop", for: .operator, query: ["device"]) { request, context in
            Answer.json(try await stop(device: try await Self.deviceArgument(request), context))
        }
    }

    @MediaLoop
    private func start(_ arguments: BroadcastArguments, _ context: RelayRequestContext) async throws(Problem)
        -> JSONValue
    {
        let broadcast = try broadcast(arguments.device)
        context.audit.note("device", broadcast.device.name)
        do {
            let timings = try await broadcast.start(
                source: arguments.source,
                timeout: arguments.timeout,
                ttl: arguments.ttl
            )
            await switchboard.keepState()
            return BroadcastReport.started(broadcast, timings: timings)
        } catch {
            await switchboard.keepState()
            throw Problem(error, device: broadcast.device.name, fallback: broadcast.fallback?.kind.rawValue)
        }
    }

    private func status(device: String?) async throws(Problem) -> JSONValue {
        let (name, broadcast, standby, sessions) = try await readings(device: device)
        return BroadcastReport.status(
            device: name,
            broadcast,
            standby: standby,
            sessions: await reports(of: sessions),
            tls: tls
        )
    }

    @MediaLoop
    private func readings(device: String?) throws(Problem) -> (
        name: String, BroadcastReport.AgentReading, standby: BroadcastReport.AgentReading, sessions: [SessionID]
    ) {
        let broadcast = try broadcast(device)
        let sessions = switchboard.sessions.sessions(of: broadcast.device.name)
        return (
            broadcast.device.name, .init(broadcast.agent), .init(broadcast.standby), sessions.map(\.id)
        )
    }

    @MediaLoop
    private func summaries() -> [JSONValue] {
        switchboard.allBroadcasts.map { broadcast in
            BroadcastReport.summary(broadcast, sessions: switchboard.sessions.sessions(of: broadcast.device.name))
        }
    }

    @MediaLoop
    private func stop(device: String?, _ context: RelayRequestContext) async throws(Problem) -> JSONValue {
        let broadcast = try broadcast(device)
        context.audit.note("device", broadcast.device.name)
        let wasRunning = broadcast.machine.state != .idle
        await broadcast.stop(reason: "the broadcast was stopped")
        await switchboard.keepState()
        return [
            "device": .string(broadcast.device.name), "state": .string(broadcast.machine.state.rawValue),
            "wasRunning": .bool(wasRunning),
        ]
    }

    /// The device in the query of a call that takes nothing else, nil when it names none.
    private static func deviceQuery(_ request: Request) throws(Problem) -> String? {
        try query(request, isText: true) { reader in
            let device = reader.device()
            reader.finish()
            return .some(device)
        }
    }
}

/// The body of a broadcast's start.
package struct BroadcastArguments: Sendable {
    private static let defaultTimeout = 15.0

    var device: String?
    var timeout: TimeAmount
    var source: SourceRequest?
    /// s; nil for none.
    var ttl: Int?

    package init(_ reader: inout ObjectReader) {
        device = reader.device()
        timeout = TimeAmount(seconds: reader.number("timeout", in: 0.1...120) ?? Self.defaultTimeout)
        source = reader.object("source", SourceRequest.init)
        ttl = reader.ttl()
        reader.finish()
    }
}

extension ObjectReader {
    /// The name of the device that a call is about, nil when the call names none.
    mutating func device() -> String? { string("device", length: 0...100) }

    /// How long what a call starts may be without use before it ends by itself, s.
    static let lifetimes = 1...86_400

    /// After how long without use what a call starts ends by itself, s; nil for never.
    mutating func ttl() -> Int? { integer("ttl", in: Self.lifetimes) }
}
