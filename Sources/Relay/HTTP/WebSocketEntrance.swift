import Access
import HTTPTypes
import HeliographAPI
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOWebSocket
import Wire

/// Admits viewers' WebSocket requests. ``API`` answers refused ones like other requests, with the reason.
struct WebSocketEntrance: Sendable {
    /// Most bytes that the kernel holds for one viewer, as on a session's TCP port.
    private static let socketBuffer = 512 << 10

    private let switchboard: Switchboard
    private let access: AccessControl
    private let isSecure: Bool
    private let policy: WebSocketMachine.Policy
    private let logger: Logger

    init(
        switchboard: Switchboard,
        access: AccessControl,
        isSecure: Bool,
        policy: WebSocketMachine.Policy,
        logger: Logger
    ) {
        self.isSecure = isSecure
        self.logger = logger
        self.switchboard = switchboard
        self.access = access
        self.policy = policy
    }

    /// The upgrader that turns a connection into a WebSocket.
    var upgrader: NIOTypedWebSocketServerUpgrader<HTTPConnection.Outcome> {
        NIOTypedWebSocketServerUpgrader(
            maxFrameSize: policy.maximumMessage,
            enableAutomaticErrorHandling: false,
            // ``FirstRequestHandler`` has already decided.
            shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
            upgradePipelineHandler: { channel, head in
                session(for: head, on: channel).flatMapThrowing { session in
                    // The session may have ended since.
                    guard let session else { throw ChannelError.inappropriateOperationForState }
                    return session
                }.flatMap { session in
                    channel.setOption(
                        .socketOption(.so_sndbuf),
                        value: ChannelOptions.Types.SocketOption.Value(Self.socketBuffer)
                    ).flatMap {
                        channel.eventLoop.makeFutureWithTask { await right(of: head.headers, on: channel) }
                    }.flatMap { right in
                        makeViewer(of: session, as: WebSocketPath(head.uri), with: right, on: channel)
                    }
                }.flatMapThrowing { viewer in
                    let operations = channel.pipeline.syncOperations
                    try operations.addHandler(WebSocketHandler(viewer: viewer, policy: policy))
                    return .webSocket
                }
            }
        )
    }

    /// Returns the session of the WebSocket that `head` requests; `nil` unless the caller may watch it now.
    func session(for head: HTTPRequestHead, on channel: any Channel) -> EventLoopFuture<Session?> {
        guard Self.asksForWebSocket(head), let address = WebSocketPath(head.uri)?.session, mayCall(head.headers),
            let caller = caller(head.headers)
        else { return channel.eventLoop.makeSucceededFuture(nil) }
        access.hold(channel, by: caller)
        access.releaseAtEnd(of: channel)
        return channel.eventLoop.makeFutureWithTask { await session(at: address, for: caller) }
    }

    /// Returns the session at an address if it has room and the caller's key reaches its device. This may start a
    /// device's shared session.
    @MediaLoop
    private func session(at address: WebSocketPath.Session, for caller: Caller) async -> Session? {
        let session: Session?
        switch address {
        case .id(let id): session = switchboard.sessions[id]
        case .named(let device, let name): session = switchboard.sessions.session(named: name, of: device)
        case .shared(let device):
            guard caller.reaches(device), let broadcast = switchboard.broadcast(of: device) else { return nil }
            // The API reports the error when it answers the request.
            try? await SharedSession.start(on: broadcast, of: switchboard)
            session = switchboard.sessions.session(named: SharedSession.name, of: device)
        }
        return session.flatMap { $0.hasRoom && caller.reaches($0.device.name) ? $0 : nil }
    }

    private func makeViewer(
        of session: Session,
        as path: WebSocketPath?,
        with right: ControlRight,
        on channel: any Channel
    ) -> EventLoopFuture<WebSocketViewer> {
        MediaLoop.eventLoop.submit {
            MediaLoop.assumeIsolated {
                WebSocketViewer(
                    session: session,
                    of: switchboard.broadcast(of: session.device.name),
                    channel: channel,
                    container: path?.container,
                    audio: path?.audio ?? false,
                    join: path?.join,
                    limits: session.viewerLimits,
                    right: right,
                    logger: logger
                )
            }
        }.hop(to: channel.eventLoop)
    }

    /// Returns whether the request asks for a WebSocket (RFC 6455, section 4.2.1). A request that announces a body is
    /// left to the API, which refuses it.
    private static func asksForWebSocket(_ head: HTTPRequestHead) -> Bool {
        let headers = head.headers
        return head.method == .GET && head.version == .http1_1
            && headers[canonicalForm: "upgrade"].contains { $0.lowercased() == "websocket" }
            && headers[canonicalForm: "connection"].contains { $0.lowercased() == "upgrade" }
            && headers["sec-websocket-key"].count == 1 && headers["sec-websocket-version"] == ["13"]
            && !headers.contains(name: "transfer-encoding") && headers["content-length"].allSatisfy { $0 == "0" }
    }

    /// Returns whether the caller may act on the screen: by the same rules as a call that does, see ``RouteTable``.
    private func right(of headers: HTTPHeaders, on channel: any Channel) async -> ControlRight {
        guard let caller = caller(headers) else { return .mayNot("the key was revoked") }
        if case .login = Self.credential(headers), !headers.contains(name: "origin") {
            return .mayNot("a connection with a cookie needs the Origin of the relay's own page")
        }
        guard headers["sec-fetch-site"].allSatisfy(Origin.own.contains) else {
            return .mayNot("pages of other sites may not act on the screen")
        }
        if let key = caller.key {
            return key.role >= .controller
                ? .may(.key(key.name))
                : .mayNot("the key has the role \(key.role.rawValue); to act it needs controller")
        }
        let objection = await LocalUser.objection(to: channel) { headers.contains(name: $0) }
        return objection.map(ControlRight.mayNot) ?? .may(.local)
    }

    private static func credential(_ headers: HTTPHeaders) -> Credential {
        Credential(
            authorization: headers["authorization"],
            cookies: headers["cookie"],
            authority: headers.first(name: "host")
        )
    }

    /// Returns the caller, if the API would admit it; see ``RouteTable``.
    private func caller(_ headers: HTTPHeaders) -> Caller? {
        let credential = Self.credential(headers)
        return access.caller(showing: credential).flatMap { $0.role.map { $0 >= .viewer } == true ? $0 : nil }
    }

    /// Applies the rules of ``OriginGuard``. Browsers let any page open a WebSocket to any host, so only the check of
    /// Origin keeps foreign pages out.
    private func mayCall(_ headers: HTTPHeaders) -> Bool {
        let hosts = headers["host"]
        guard hosts.count == 1, access.isOn || Origin.isLocal(authority: hosts[0]) else { return false }
        return headers["origin"].allSatisfy { Origin.isSame($0, authority: hosts[0], isSecure: isSecure) }
    }
}

extension API {
    /// Adds the route of ``WebSocketEntrance``. It gets the requests that were not admitted there.
    func addWebSocketRoute(to routes: inout RouteTable) {
        routes.respond(to: Routes.watchOverWebSocket) { _, request, context in
            let session = try await watchedSession(request, context)
            if let refusal = await session.refusal { throw Problem(refusal) }
            var problem = Problem(
                .upgradeRequired,
                "this is a WebSocket: upgrade the connection's first request to it, version 13; see docs/reference/websocket.md"
            )
            problem.headers = [.upgrade: "websocket", .connection: "Upgrade", .secWebSocketVersion: "13"]
            throw problem
        }
    }
}
