import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import ServiceLifecycle

/// A whole relay. It runs until it is cancelled or shut down gracefully, which ends viewers' streams and agents in good order.
package struct RelayApplication: Service {
    private let configuration: RelayConfiguration
    private let logger: Logger
    private let onReady: @Sendable (RelayPorts) async -> Void

    /// - Parameter onReady: Called once all ports are open.
    package init(
        configuration: RelayConfiguration,
        logger: Logger,
        onReady: @escaping @Sendable (RelayPorts) async -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.logger = logger
        self.onReady = onReady
    }

    /// - Throws: ``RelayStartError``
    package func run() async throws {
        try configuration.validate()
        let state = keptState()
        var configuration = configuration
        if let state, !configuration.isTokenConfigured { configuration.linkToken = LinkToken(value: state.linkToken) }
        let switchboard = await Switchboard(configuration: configuration, logger: logger)
        // Agents that outlived the relay find its sessions there.
        if let state { await switchboard.restoreSessions(state) }
        let listener = try await AgentListener(
            endpoint: configuration.agentLink,
            owner: switchboard,
            policy: LinkStateMachine.Policy(
                token: configuration.linkToken,
                helloTimeout: configuration.helloTimeout,
                watchdog: configuration.watchdog
            )
        )
        await switchboard.listens(onPort: listener.port)
        if let state { await switchboard.resumeBroadcasts(state) }
        do {
            try await serve(switchboard, agentLinkPort: listener.port)
        } catch {
            await end(switchboard, listener)
            throw error
        }
        await end(switchboard, listener)
    }

    private func keptState() -> RelayState? {
        do throws(StateFile.Failure) {
            return try configuration.stateFile.map(StateFile.init(path:))?.read()
        } catch {
            logger.warning("\(error)")
            return nil
        }
    }

    private func end(_ switchboard: Switchboard, _ listener: AgentListener) async {
        await switchboard.drain()
        await listener.close()
    }

    private enum Milestone {
        case announced, drained, served
    }

    /// Runs HTTP beside a task that drains the switchboard on shutdown: streaming responses end only when their sessions do.
    private func serve(_ switchboard: Switchboard, agentLinkPort: Int) async throws {
        let (running, announcement) = AsyncStream<Int>.makeStream()
        let server = Application(
            router: API(switchboard: switchboard).router(),
            server: HTTPServerBuilder { responder in
                HTTPConnection(
                    responder: responder,
                    entrance: WebSocketEntrance(switchboard: switchboard, policy: configuration.webSocket),
                    requestTimeout: configuration.requestTimeout
                )
            },
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.http.host, port: configuration.http.port),
                serverName: "heliograph"
            ),
            onServerRunning: { channel in
                announcement.yield(channel.localAddress?.port ?? 0)
                announcement.finish()
            },
            logger: logger
        )
        do {
            try await withThrowingTaskGroup { group in
                group.addTask {
                    try await server.run()
                    return Milestone.served
                }
                group.addTask {
                    for await port in running {
                        try await announce(RelayPorts(http: port, agentLink: agentLinkPort))
                    }
                    return Milestone.announced
                }
                group.addTask {
                    try? await gracefulShutdown()
                    await switchboard.drain()
                    return Milestone.drained
                }
                for try await milestone in group where milestone == .served { break }
                group.cancelAll()
            }
        } catch let error as IOError {
            throw RelayStartError(binding: "the HTTP API", to: configuration.http, error: error)
        }
    }

    private func announce(_ ports: RelayPorts) async throws {
        if let path = configuration.portsFile { try ports.write(to: path) }
        logger.info(
            "listening",
            metadata: [
                "http": "\(configuration.http.host):\(ports.http)",
                "agentLink": "\(configuration.agentLink.host):\(ports.agentLink)",
            ]
        )
        await onReady(ports)
    }
}
