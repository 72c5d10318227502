import HeliographAPI
import Hummingbird

/// The HTTP API.
struct API: Sendable {
    let switchboard: Switchboard
    let access: AccessControl
    /// The TLS server; `nil` without encryption.
    var tls: TLSServer?
    /// Where the calls come in.
    var door = Door.own
    /// The origins of other pages that may call, and show the relay's page.
    let allowedOrigins: Set<String>
    let tunnels: Tunnels
    let speedTests = SpeedTests()
    let pairing = Pairing()
    let nearbyRelays = NearbyRelayFinder()

    /// Whether callers use HTTPS, which may end at the other end of the tunnel.
    var isSecure: Bool { tls != nil || door == .tunnel }

    func responder() -> SignedPaths {
        SignedPaths(AllowedPages(table.router(isSecure: isSecure), origins: allowedOrigins, isSecure: isSecure))
    }

    var table: RouteTable {
        var routes = RouteTable(api: self)
        addAuthRoutes(to: &routes)
        addKeyRoutes(to: &routes)
        addPairingRoutes(to: &routes)
        addTunnelRoutes(to: &routes)
        addNearbyRelaysRoute(to: &routes)
        addLinkRoutes(to: &routes)
        addBroadcastRoutes(to: &routes)
        addSessionRoutes(to: &routes)
        addStreamRoutes(to: &routes)
        addSnapshotRoutes(to: &routes)
        addWaitRoutes(to: &routes)
        addSoundRoutes(to: &routes)
        addTemplateRoutes(to: &routes)
        addActionRoutes(to: &routes)
        addClipboardRoutes(to: &routes)
        addApplicationRoutes(to: &routes)
        addLibraryRoutes(to: &routes)
        addCatalogueRoutes(to: &routes)
        addPlaylistRoutes(to: &routes)
        addHLSRoutes(to: &routes)
        addLiveHLSRoutes(to: &routes)
        addWebSocketRoutes(to: &routes)
        addEventRoute(to: &routes)
        addPageRoutes(to: &routes)
        addContractRoute(to: &routes)
        addMonitoringRoutes(to: &routes)
        addSpeedTestRoute(to: &routes)
        return routes
    }

    /// Returns the broadcast of the named device, or of the default device if none is named.
    @MediaLoop
    func broadcast(_ device: String?) throws(Problem) -> Broadcast {
        if let broadcast = device.map(switchboard.broadcast(of:)) ?? switchboard.defaultBroadcast { return broadcast }
        throw .noDevice(device, among: switchboard.allBroadcasts.map(\.device.name))
    }

    /// Returns the session that the path names: by id, by device and name, or by device alone.
    ///
    /// - Parameter isUse: Whether the call counts as a use of the session.
    @MediaLoop
    func session(_ context: RelayRequestContext, isUse: Bool = true) throws(Problem) -> Session {
        let id = context.parameters.get("id")
        let session = if let id { try self.session(id: id) } else { try namedSession(context) }
        if isUse { session.touch() }
        context.audit.note("device", session.device.name)
        context.audit.note("session", session.id)
        return session
    }

    /// Returns the session of a viewer's call. The first call for a device's shared session may start it.
    @MediaLoop
    func watchedSession(_ request: Request, _ context: RelayRequestContext, isUse: Bool = true) async throws(Problem)
        -> Session
    {
        guard context.parameters.get("id") == nil, context.parameters.get("name") == nil, request.method == .get else {
            return try session(context, isUse: isUse)
        }
        let broadcast = try broadcast(context.parameters.get("device"))
        if broadcast.device.isOnDemand {
            try OriginGuard.requireChangesAllowed(request)
            do throws(SharedSession.Failure) {
                try await SharedSession.start(on: broadcast, of: switchboard)
            } catch {
                throw Problem(error, on: broadcast)
            }
        }
        return try session(context, isUse: isUse)
    }

    @MediaLoop
    func session(id text: String) throws(Problem) -> Session {
        guard let id = UInt32(text), let session = switchboard.sessions[id] else {
            throw Problem(.unknownSession, "there is no session \(text): list the sessions to see which run")
        }
        return session
    }

    @MediaLoop
    private func namedSession(_ context: RelayRequestContext) throws(Problem) -> Session {
        let device = try broadcast(context.parameters.get("device")).device.name
        let name = context.parameters.get("name") ?? SharedSession.name
        guard let session = switchboard.sessions.session(named: name, of: device) else {
            throw Problem(.unknownSession, "device \(device) has no session \(name): start it first")
        }
        return session
    }
}

extension Problem {
    /// Creates the problem of a call about a device that does not exist, or about the default one if there is none.
    ///
    /// - Parameter names: The devices that the caller may know.
    static func noDevice(_ device: String?, among names: [String]) -> Problem {
        let devices = "Devices: \(names.isEmpty ? "none" : names.joined(separator: ", "))."
        guard let device else { return Problem(.missingField, "device is missing. \(devices)", field: "device") }
        let question = NearestWord.question(for: device, among: names)
        return Problem(.unknownDevice, "Unknown device '\(device)'.\(question) \(devices)", field: "device")
    }
}
