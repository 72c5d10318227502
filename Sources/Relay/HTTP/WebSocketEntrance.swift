import Access
import HTTPTypes
import HeliographAPI
import HummingbirdCore
import NIOCore
import NIOHTTP1
import NIOWebSocket
import Wire

/// Lets viewers' requests for a WebSocket in. What it refuses is answered as any request is: by ``API``, which says why.
struct WebSocketEntrance: Sendable {
    /// What the kernel may hold for one viewer, bytes, as on a session's TCP port.
    private static let socketBuffer = 512 << 10

    private let switchboard: Switchboard
    private let access: AccessControl
    private let isSecure: Bool
    private let policy: WebSocketMachine.Policy

    init(switchboard: Switchboard, access: AccessControl, isSecure: Bool, policy: WebSocketMachine.Policy) {
        self.isSecure = isSecure
        self.switchboard = switchboard
        self.access = access
        self.policy = policy
    }

    /// What turns a connection into a WebSocket.
    var upgrader: NIOTypedWebSocketServerUpgrader<HTTPConnection.Outcome> {
        NIOTypedWebSocketServerUpgrader(
            maxFrameSize: policy.maximumMessage,
            enableAutomaticErrorHandling: false,
            // Asked and answered by ``FirstRequestHandler``.
            shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
            upgradePipelineHandler: { channel, head in
                session(for: head, on: channel).flatMapThrowing { session in
                    // It may have ended since.
                    guard let session else { throw ChannelError.inappropriateOperationForState }
                    return session
                }.flatMap { session in
                    channel.setOption(
                        .socketOption(.so_sndbuf),
                        value: ChannelOptions.Types.SocketOption.Value(Self.socketBuffer)
                    ).flatMap {
                        makeViewer(of: session, as: WebSocketPath(head.uri), on: channel)
                    }
                }.flatMapThrowing { viewer in
                    let operations = channel.pipeline.syncOperations
                    try operations.addHandler(WebSocketHandler(viewer: viewer, policy: policy))
                    return .webSocket
                }
            }
        )
    }

    /// The session that `head` asks for a WebSocket of, if it is one that the caller may watch now.
    func session(for head: HTTPRequestHead, on channel: any Channel) -> EventLoopFuture<Session?> {
        guard Self.asksForWebSocket(head), let id = WebSocketPath(head.uri)?.session, mayCall(head.headers),
            let caller = caller(head.headers)
        else { return channel.eventLoop.makeSucceededFuture(nil) }
        access.hold(channel, by: caller)
        access.releaseAtEnd(of: channel)
        return MediaLoop.eventLoop.submit {
            MediaLoop.assumeIsolated { switchboard.sessions[id].flatMap { $0.hasRoom ? $0 : nil } }
        }.hop(to: channel.eventLoop)
    }

    private func makeViewer(
        of session: Session,
        as path: WebSocketPath?,
        on channel: any Channel
    ) -> EventLoopFuture<WebSocketViewer> {
        MediaLoop.eventLoop.submit {
            MediaLoop.assumeIsolated {
                WebSocketViewer(
                    session: session,
                    channel: channel,
                    container: path?.container,
                    join: path?.join,
                    limits: session.viewerLimits
                )
            }
        }.hop(to: channel.eventLoop)
    }

    /// Section 4.2.1 of RFC 6455. A request that announces a body is left to the API, which refuses it.
    private static func asksForWebSocket(_ head: HTTPRequestHead) -> Bool {
        let headers = head.headers
        return head.method == .GET && head.version == .http1_1
            && headers[canonicalForm: "upgrade"].contains { $0.lowercased() == "websocket" }
            && headers[canonicalForm: "connection"].contains { $0.lowercased() == "upgrade" }
            && headers["sec-websocket-key"].count == 1 && headers["sec-websocket-version"] == ["13"]
            && !headers.contains(name: "transfer-encoding") && headers["content-length"].allSatisfy { $0 == "0" }
    }

    /// Who asks, if the API would let them; see ``RouteTable``.
    private func caller(_ headers: HTTPHeaders) -> Caller? {
        let credential = Credential(
            authorization: headers["authorization"],
            cookies: headers["cookie"],
            authority: headers.first(name: "host")
        )
        return access.caller(showing: credential).flatMap { $0.role.map { $0 >= .viewer } == true ? $0 : nil }
    }

    /// The rules of ``OriginGuard``. Browsers let any page open a WebSocket to any host: that Origin is looked at is all that keeps them out.
    private func mayCall(_ headers: HTTPHeaders) -> Bool {
        let hosts = headers["host"]
        guard hosts.count == 1, access.isOn || Origin.isLocal(authority: hosts[0]) else { return false }
        return headers["origin"].allSatisfy { Origin.isSame($0, authority: hosts[0], isSecure: isSecure) }
    }
}

extension API {
    /// The route of ``WebSocketEntrance``. What comes here was not let in there.
    func addWebSocketRoute(to routes: inout RouteTable) {
        routes.respond(to: Routes.watchOverWebSocket) { _, _, context in
            let session = try await session(context)
            if let refusal = await session.refusal { throw Problem(refusal) }
            var problem = Problem(
                .upgradeRequired,
                "this is a WebSocket: upgrade the connection's first request to it, version 13; see docs/websocket.md"
            )
            problem.headers = [.upgrade: "websocket", .connection: "Upgrade", .secWebSocketVersion: "13"]
            throw problem
        }
    }
}
