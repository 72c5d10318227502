import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import NIOPosix
import Program
import ServiceLifecycle

/// A whole relay. It runs until it is cancelled, shut down gracefully, or drained over HTTP. Each of these ends
/// viewers' streams and agents cleanly.
package struct RelayApplication: Service {
    /// How long a connection may outlive its key.
    private static let refreshInterval = TimeAmount.seconds(1)

    private let configuration: RelayConfiguration
    private let logger: Logger
    private let changes: AsyncStream<RelayConfiguration>
    private let onReady: @Sendable (RelayPorts) async -> Void

    /// Creates a relay.
    ///
    /// - Parameters:
    ///   - changes: New configurations while it runs; only settings that can change then are applied. Read once.
    ///   - onReady: Called once all ports are open.
    package init(
        configuration: RelayConfiguration,
        logger: Logger,
        changes: AsyncStream<RelayConfiguration> = AsyncStream { $0.finish() },
        onReady: @escaping @Sendable (RelayPorts) async -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.logger = logger
        self.changes = changes
        self.onReady = onReady
    }

    /// Runs the relay until its end.
    ///
    /// - Throws: ``RelayStartError``
    package func run() async throws {
        let events = EventHub()
        let state = keptState()
        var configuration = configuration
        if let state {
            if !configuration.isTokenConfigured { configuration.linkToken = LinkToken(value: state.linkToken) }
            configuration.linkSecret = state.linkSecret ?? configuration.linkSecret
        }
        let access = try accessControl(configuration.linkSecret, events)
        try configuration.validate(keyCount: access.keyCount)
        let tls = try TLSServer(
            configuration.tls,
            directory: configuration.stateDirectory,
            host: MachineName.current,
            logger: logger
        )
        access.announce()
        tls?.announce()
        let connections = Connections(limits: configuration.connections, logger: logger)
        let switchboard = await Switchboard(
            configuration: configuration,
            connections: connections,
            entrance: await entrance(access, tls, connections),
            events: events,
            logger: logger
        )
        // Restored before agents connect: those that outlived the previous relay expect its sessions, and belong to
        // this relay.
        if let state {
            await switchboard.restoreSessions(state)
            await switchboard.resumeBroadcasts(state)
        }
        let listener = try await AgentListener(
            endpoint: configuration.agentLink,
            owner: switchboard,
            policy: LinkStateMachine.Policy(
                token: configuration.linkToken,
                helloTimeout: configuration.helloTimeout,
                watchdog: configuration.watchdog
            ),
            pauses: switchboard.acceptPauses
        )
        await switchboard.listens(onPort: listener.port)
        await switchboard.standUp()
        do {
            try await serve(switchboard, access, tls, agentLinkPort: listener.port)
        } catch {
            await end(switchboard, listener)
            throw error
        }
        await end(switchboard, listener)
    }

    private func accessControl(_ secret: SigningSecret, _ events: EventHub) throws(RelayStartError) -> AccessControl {
        do {
            return try AccessControl(
                keysFile: configuration.keysFile,
                linkSecret: secret,
                requiresPairing: configuration.requiresPairing,
                events: events,
                logger: logger
            )
        } catch {
            throw .keys(error)
        }
    }

    /// Returns the checks for viewers on sessions' ports; `nil` on loopback.
    @MediaLoop
    private func entrance(_ access: AccessControl, _ tls: TLSServer?, _ connections: Connections) -> StreamEntrance? {
        guard !configuration.http.isLoopback, let tls else { return nil }
        return StreamEntrance(policy: configuration.strangers, access: access, tls: tls, connections: connections)
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
        case announced, changed, drained, tunnelled, served
    }

    /// Runs HTTP beside a task that drains the switchboard on shutdown, because streaming responses only end with their
    /// sessions.
    private func serve(_ switchboard: Switchboard, _ access: AccessControl, _ tls: TLSServer?, agentLinkPort: Int)
        async throws
    {
        let (running, announcement) = AsyncStream<Int>.makeStream()
        let tunnels = Tunnels(
            configuration.tunnel,
            executable: configuration.tunnelExecutable ?? "cloudflared",
            backoff: configuration.tunnelBackoff,
            events: switchboard.events,
            logger: logger
        )
        let api = API(
            switchboard: switchboard,
            access: access,
            tls: tls,
            allowedOrigins: Set(configuration.allowedOrigins),
            tunnels: tunnels
        )
        let server = server(of: api, at: configuration.http, switchboard.connections) { port in
            announcement.yield(port)
            announcement.finish()
        }
        let watch = Self.watchFiles(access, tls)
        defer { watch.cancel() }
        do {
            try await withThrowingTaskGroup { group in
                group.addTask {
                    try await server.run()
                    return Milestone.served
                }
                group.addTask {
                    await tunnels.run { try await serve($0, api) }
                    return Milestone.tunnelled
                }
                group.addTask {
                    for await port in running {
                        try await announce(RelayPorts(http: port, agentLink: agentLinkPort))
                        guard !configuration.isHidden, !configuration.http.isLoopback, let tls else { continue }
                        let network = NetworkAnnouncement(
                            host: configuration.http.host,
                            tls: tls,
                            requiresPairing: configuration.requiresPairing,
                            logger: logger
                        )
                        await network.run(port: UInt16(clamping: port))
                    }
                    return Milestone.announced
                }
                group.addTask {
                    try? await gracefulShutdown()
                    await switchboard.drain()
                    return Milestone.drained
                }
                group.addTask {
                    for await _ in switchboard.drained {
                        logger.notice("drained: the relay ends")
                        await switchboard.drain()
                        return Milestone.served
                    }
                    return Milestone.drained
                }
                group.addTask {
                    for await configuration in changes { await switchboard.change(to: configuration) }
                    return Milestone.changed
                }
                for try await milestone in group where milestone == .served { break }
                group.cancelAll()
            }
        } catch let error as IOError {
            throw RelayStartError(binding: "the HTTP API", to: configuration.http, error: error)
        }
    }

    /// Runs the tunnel and the server for its calls, which has a port and connections of its own.
    private func serve(_ tunnel: Tunnel, _ api: API) async throws {
        var api = api
        (api.door, api.tls) = (.tunnel, nil)
        let connections = Connections(limits: configuration.connections, logger: logger)
        let (ports, running) = AsyncStream<Int>.makeStream()
        let server = server(of: api, at: Endpoint(host: "127.0.0.1", port: 0), connections) { port in
            running.yield(port)
            running.finish()
        }
        try await withThrowingTaskGroup { group in
            group.addTask { try await server.run() }
            group.addTask {
                for await port in ports { await tunnel.run(port: port) }
            }
            // The server ends with the relay.
            try await group.next()
            group.cancelAll()
        }
    }

    /// Creates a server of HTTP.
    ///
    /// - Parameter onRunning: Called with the port once it is open.
    private func server(
        of api: API,
        at endpoint: Endpoint,
        _ connections: Connections,
        onRunning: @escaping @Sendable (Int) -> Void
    ) -> some ApplicationProtocol {
        Application(
            responder: api.responder(),
            server: HTTPServerBuilder { responder in
                HTTPConnection(
                    responder: responder,
                    entrance: WebSocketEntrance(
                        switchboard: api.switchboard,
                        access: api.access,
                        isSecure: api.isSecure,
                        door: api.door,
                        allowedOrigins: api.allowedOrigins,
                        policy: configuration.webSocket,
                        logger: logger
                    ),
                    tls: api.tls,
                    connections: connections
                )
            },
            configuration: ApplicationConfiguration(
                address: .hostname(endpoint.host, port: endpoint.port),
                serverName: "heliograph"
            ),
            onServerRunning: { channel in
                // Hummingbird offers no other place for this.
                try? await channel.eventLoop.submit {
                    let handler = AcceptPauseHandler(.http, pauses: api.switchboard.acceptPauses)
                    try channel.pipeline.syncOperations.addHandler(handler, position: .first)
                }.get()
                onRunning(channel.localAddress?.port ?? 0)
            },
            logger: logger
        )
    }

    /// Checks keys and certificates periodically, for connections that make no new calls.
    ///
    /// It runs on an event loop, because a sleeping task wakes several threads each time.
    private static func watchFiles(_ access: AccessControl, _ tls: TLSServer?) -> RepeatedTask {
        MultiThreadedEventLoopGroup.singleton.next().scheduleRepeatedTask(
            initialDelay: refreshInterval,
            delay: refreshInterval
        ) { _ in
            access.refresh()
            access.closeEnded()
            guard let tls else { return }
            // Reading a certificate may take a while.
            NIOThreadPool.singleton.submit { _ in tls.refresh() }
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
