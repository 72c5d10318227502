import Access
import HTTPTypes
import HeliographAPI
import HummingbirdCore
import Library
import Logging
import NIOCore
import NIOHTTP1
import NIOWebSocket
import Wire

/// Admits WebSockets: viewers', the wall's, and the library's channel. ``API`` answers refused requests like others,
/// with the reason.
struct WebSocketEntrance: Sendable {
    /// What an admitted request asks for.
    enum Admission: Sendable {
        case viewer(Session, WebSocketPath, Caller)
        case wall(Caller)
        case library(Library, Caller)
    }

    /// Most bytes that the kernel holds for one viewer, as on a session's TCP port.
    private static let socketBuffer = 512 << 10

    private let switchboard: Switchboard
    private let access: AccessControl
    private let isSecure: Bool
    private let door: Door
    private let allowedOrigins: Set<String>
    private let policy: WebSocketMachine.Policy
    private let logger: Logger

    init(
        switchboard: Switchboard,
        access: AccessControl,
        isSecure: Bool,
        door: Door,
        allowedOrigins: Set<String>,
        policy: WebSocketMachine.Policy,
        logger: Logger
    ) {
        (self.isSecure, self.door) = (isSecure, door)
        self.allowedOrigins = allowedOrigins
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
                admission(for: head, on: channel).flatMap { admission in
                    endpoint(for: admission, head.headers, on: channel)
                }.flatMapThrowing { endpoint in
                    let operations = channel.pipeline.syncOperations
                    try operations.addHandler(WebSocketHandler(endpoint: endpoint, policy: policy))
                    return .webSocket
                }
            }
        )
    }

    /// Returns what the WebSocket that `head` requests is for; `nil` unless the caller may have it now.
    func admission(for head: HTTPRequestHead, on channel: any Channel) -> EventLoopFuture<Admission?> {
        let signed = SignedPath.split(head.uri)
        let uri = signed?.path ?? head.uri
        // The link is a credential that no browser shows by itself, so any page may use it.
        guard Self.asksForWebSocket(head), signed != nil || mayCall(head.headers) else {
            return channel.eventLoop.makeSucceededFuture(nil)
        }
        let peer = peer(on: channel, channel.shownCertificate)
        let credential = signed.map { .link($0.link) } ?? credential(of: head.headers)
        guard let caller = access.caller(showing: credential, from: peer) else {
            return channel.eventLoop.makeSucceededFuture(nil)
        }
        if Routes.followWall.route.addresses.contains(where: { $0.path == uri }) {
            guard signed == nil, caller.role.map({ $0 >= .viewer }) == true else {
                return channel.eventLoop.makeSucceededFuture(nil)
            }
            hold(channel, by: caller)
            // Not at once, because the request's end must have come.
            return channel.eventLoop.submit { .wall(caller) }
        }
        if signed == nil, Routes.followLibrary.route.addresses.contains(where: { $0.path == uri }) {
            guard caller.libraryRights.contains(.look) else { return channel.eventLoop.makeSucceededFuture(nil) }
            hold(channel, by: caller)
            return channel.eventLoop.makeFutureWithTask {
                await switchboard.recordings.libraryWithRoom().map { .library($0, caller) }
            }
        }
        guard let path = WebSocketPath(uri), caller.role.map({ $0 >= .viewer }) == true else {
            return channel.eventLoop.makeSucceededFuture(nil)
        }
        hold(channel, by: caller)
        return channel.eventLoop.makeFutureWithTask {
            await session(at: path.session, for: caller).map { .viewer($0, path, caller) }
        }
    }

    private func hold(_ channel: any Channel, by caller: Caller) {
        access.hold(channel, by: caller)
        access.releaseAtEnd(of: channel)
    }

    /// Returns the session at an address if it has room and the caller's key reaches its device. This may start a
    /// device's shared session.
    @MediaLoop
    private func session(at address: WebSocketPath.Session, for caller: Caller) async -> Session? {
        let session: Session?
        switch address {
        case .id(let id): session = switchboard.sessions[id]
        case .named(let device, let name):
            guard caller.mayOpen(device: device) else { return nil }
            session = switchboard.sessions.session(named: name, of: device)
        case .shared(let device):
            guard caller.reaches(device), caller.mayOpen(device: device),
                let broadcast = switchboard.broadcast(of: device)
            else { return nil }
            // The API reports the error when it answers the request.
            try? await SharedSession.start(on: broadcast, of: switchboard)
            session = switchboard.sessions.session(named: SharedSession.name, of: device)
        }
        return session.flatMap { $0.hasRoom && caller.reaches($0.device.name) && caller.mayOpen($0) ? $0 : nil }
    }

    /// Makes the endpoint of a WebSocket. It fails without an admission: what was there may have ended since.
    private func endpoint(
        for admission: Admission?,
        _ headers: HTTPHeaders,
        on channel: any Channel
    ) -> EventLoopFuture<any WebSocketEndpoint> {
        switch admission {
        case nil: return channel.eventLoop.makeFailedFuture(ChannelError.inappropriateOperationForState)
        case .library(let library, let caller):
            let mark = ChannelOptions.Types.WriteBufferWaterMark(low: LibraryClient.room / 2, high: LibraryClient.room)
            return channel.setOption(.writeBufferWaterMark, value: mark).flatMap {
                let client = LibraryClient(caller, on: channel, of: switchboard.recordings.channel, in: library)
                return channel.eventLoop.makeSucceededFuture(client)
            }
        case .wall(let caller):
            let mark = ChannelOptions.Types.WriteBufferWaterMark(low: WallClient.room / 2, high: WallClient.room)
            return channel.setOption(.writeBufferWaterMark, value: mark).flatMap {
                channel.eventLoop.makeFutureWithTask {
                    let pictures = await WallPictures(for: caller, of: switchboard.sessions, on: channel)
                    return WallClient(caller, on: channel, events: switchboard.events, pictures: pictures)
                }
            }
        case .viewer(let session, let path, let caller):
            return channel.setOption(
                .socketOption(.so_sndbuf),
                value: ChannelOptions.Types.SocketOption.Value(Self.socketBuffer)
            ).flatMap {
                channel.eventLoop.makeFutureWithTask { await right(of: caller, headers, on: channel) }
            }.flatMap { right in
                makeViewer(of: session, as: path, with: right, on: channel)
            }
        }
    }

    private func makeViewer(
        of session: Session,
        as path: WebSocketPath,
        with right: ControlRight,
        on channel: any Channel
    ) -> EventLoopFuture<any WebSocketEndpoint> {
        MediaLoop.eventLoop.submit {
            MediaLoop.assumeIsolated {
                WebSocketViewer(
                    session: session,
                    of: switchboard.broadcast(of: session.device.name),
                    channel: channel,
                    container: path.container,
                    audio: path.audio,
                    join: path.join,
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
    private func right(
        of caller: Caller,
        _ headers: HTTPHeaders,
        on channel: any Channel
    ) async -> ControlRight {
        if let link = caller.link, let key = caller.key {
            return link.acts && key.role >= .controller
                ? .may(.key(key.name))
                : .mayNot("this link is for looking only: make one with act")
        }
        let credential = credential(of: headers)
        let peer = peer(on: channel, await channel.clientCertificate())
        guard let caller = access.caller(showing: credential, from: peer) else {
            return .mayNot("the key was revoked")
        }
        if case .login = credential, !headers.contains(name: "origin") {
            return .mayNot("a connection with a cookie needs the Origin of the relay's own page")
        }
        guard headers["sec-fetch-site"].allSatisfy(Origin.own.contains), isOwnPage(headers) else {
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

    /// Returns who is at the other end. A tunnel's connections come from this machine, and the calls from anywhere.
    private func peer(on channel: any Channel, _ certificate: Fingerprint?) -> Peer {
        door == .tunnel ? Peer(address: nil) : Peer(address: channel.remoteAddress, certificate: certificate)
    }

    /// Returns the credential of a request. The login's cookie counts on the relay's own page only; see
    /// ``AllowedPages``.
    private func credential(of headers: HTTPHeaders) -> Credential {
        Credential(
            authorization: headers["authorization"],
            cookies: isOwnPage(headers) ? headers["cookie"] : [],
            authority: headers.first(name: "host")
        )
    }

    /// Whether no page asks, or one of the relay's own.
    private func isOwnPage(_ headers: HTTPHeaders) -> Bool {
        headers["origin"].allSatisfy {
            Origin.isSame($0, authority: headers.first(name: "host"), isSecure: isSecure)
        }
    }

    /// Applies the rules of ``OriginGuard``. Browsers let any page open a WebSocket to any host, so only the check of
    /// Origin keeps foreign pages out.
    private func mayCall(_ headers: HTTPHeaders) -> Bool {
        let hosts = headers["host"]
        guard hosts.count == 1, access.isOn || Origin.isLocal(authority: hosts[0]) else { return false }
        return isOwnPage(headers) || headers["origin"].allSatisfy { allowedOrigins.contains($0.lowercased()) }
    }
}

extension Caller {
    /// Whether the caller's signed link, if it has one, is for a device: not for one session alone.
    fileprivate func mayOpen(device: String) -> Bool {
        switch link?.scope {
        case nil: true
        case .device(let name): name == device
        case .session, .recording: false
        }
    }

    /// Whether the caller's signed link, if it has one, is for this session.
    @MediaLoop
    fileprivate func mayOpen(_ session: Session) -> Bool {
        switch link?.scope {
        case nil: true
        case .session(let id): session.id == id
        case .device(let name): session.device.name == name
        case .recording: false
        }
    }
}

extension API {
    /// Adds the routes of ``WebSocketEntrance``. They get the requests that were not admitted there.
    func addWebSocketRoutes(to routes: inout RouteTable) {
        routes.respond(to: Routes.watchOverWebSocket) { _, request, context in
            let session = try await watchedSession(request, context)
            if let refusal = await session.refusal { throw Problem(refusal) }
            throw Problem.upgradeRequired("websocket.md")
        }
        routes.respond(to: Routes.followWall) { _, _, _ in throw Problem.upgradeRequired("wall.md") }
        routes.respond(to: Routes.followLibrary) { _, _, _ in
            _ = try await inLibrary { $0.folder }
            guard await switchboard.recordings.libraryWithRoom() != nil else {
                throw Problem(
                    .libraryUnavailable,
                    "the library's channel has all the clients it can have: try again later"
                )
            }
            throw Problem.upgradeRequired("library-channel.md")
        }
    }
}

extension Problem {
    /// - Parameter page: The name of the page in the reference.
    fileprivate static func upgradeRequired(_ page: String) -> Problem {
        var problem = Problem(
            .upgradeRequired,
            "this is a WebSocket: upgrade the connection's first request to it, version 13; see docs/reference/\(page)"
        )
        problem.headers = [.upgrade: "websocket", .connection: "Upgrade", .secWebSocketVersion: "13"]
        return problem
    }
}
