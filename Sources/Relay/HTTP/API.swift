import HeliographAPI
import Hummingbird

/// The HTTP API.
struct API: Sendable {
    let switchboard: Switchboard
    let access: AccessControl
    /// Nil where nothing is encrypted.
    let tls: TLSServer?

    func router() -> Router<RelayRequestContext> { table.router(access: access, isSecure: tls != nil) }

    var table: RouteTable {
        var routes = RouteTable()
        addAuthRoutes(to: &routes)
        addBroadcastRoutes(to: &routes)
        addSessionRoutes(to: &routes)
        addStreamRoutes(to: &routes)
        addSnapshotRoutes(to: &routes)
        addWaitRoute(to: &routes)
        addWebSocketRoute(to: &routes)
        addPageRoutes(to: &routes)
        addContractRoute(to: &routes)
        addMonitoringRoutes(to: &routes)
        return routes
    }

    /// The broadcast of the device that a call names, or of the one that is meant when it names none.
    @MediaLoop
    func broadcast(_ device: String?) throws(Problem) -> Broadcast {
        if let broadcast = device.map(switchboard.broadcast(of:)) ?? switchboard.defaultBroadcast { return broadcast }
        let names = switchboard.allBroadcasts.map(\.device.name).joined(separator: ", ")
        guard let device else {
            throw Problem(.missingField, "device is missing; there is: \(names)", field: "device")
        }
        throw Problem(.unknownDevice, "no device is called \(device); there is: \(names)", field: "device")
    }

    /// The session that the path names.
    ///
    /// - Parameter isUse: Whether the call counts as use of it.
    @MediaLoop
    func session(_ context: RelayRequestContext, isUse: Bool = true) throws(Problem) -> Session {
        let text = context.parameters.get("id") ?? ""
        guard let id = UInt32(text), let session = switchboard.sessions[id] else {
            throw Problem(.unknownSession, "there is no session \(text); GET /v1/sessions lists them")
        }
        if isUse { session.touch() }
        context.audit.note("device", session.device.name)
        context.audit.note("session", session.id)
        return session
    }
}
