import HTTPTypes
import Hummingbird
import NIOCore

/// The HTTP API.
struct API: Sendable {
    /// Longest request body in bytes.
    private static let maximumBody = 64 << 10

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
        addStillRoutes(to: &routes)
        addWaitRoute(to: &routes)
        addWebSocketRoute(to: &routes)
        addPageRoutes(to: &routes)
        addContractRoute(to: &routes)
        addMonitoringRoutes(to: &routes)
        return routes
    }

    /// What `read` makes of a request's body, of which empty bytes stand for `{}`. Its content type is not asked for.
    ///
    /// - Parameter query: What counts as if it stood in the body, before it.
    static func arguments<Value>(
        _ request: Request,
        query: [JSONValue.Member] = [],
        _ read: (inout ObjectReader) -> Value?
    ) async throws -> Value {
        let body: ByteBuffer
        do {
            body = try await request.body.collect(upTo: maximumBody)
        } catch is NIOTooManyBytesError {
            throw Problem(.bodyTooLarge, "the body is longer than \(maximumBody) bytes")
        } catch is RequestLimitHandler.BodyTimeout {
            throw Problem(.requestTimeout, "the request's body did not come in time")
        } catch {
            // Broken chunks, or a client that left: no fault of the relay's.
            throw Problem(.httpError, "the body cannot be read: \(error)")
        }
        do {
            return try ObjectReader.read(query + members(body), read)
        } catch let issues as FieldIssues {
            throw Problem(issues)
        }
    }

    private static func members(_ body: ByteBuffer) throws(Problem) -> [JSONValue.Member] {
        guard body.readableBytes > 0 else { return [] }
        let value: JSONValue
        do {
            value = try JSONValue(parsing: body.readableBytesView)
        } catch {
            throw Problem(.brokenJSON, "the body is not JSON: \(error)")
        }
        guard case .object(let members) = value else {
            throw Problem(.notAnObject, "the body is \(value.kind); an object is expected, such as {\"fps\": 30}")
        }
        return members
    }

    /// The device in the query or the body of a call that takes no other argument, nil when it names none.
    static func deviceArgument(_ request: Request) async throws -> String? {
        try await arguments(request, query: QueryFields.members(of: request.uri.string, isText: true)) { reader in
            let device = reader.device()
            reader.finish()
            return .some(device)
        }
    }

    /// Reads the body of a call that takes no arguments.
    static func noArguments(_ request: Request) async throws {
        try await arguments(request) { $0.finish() }
    }

    /// Refuses a request with a body, on routes that answer for long and would never read it.
    static func noBody(_ request: Request) throws(Problem) {
        let length = request.headers[.contentLength]
        guard request.headers[.transferEncoding] != nil || length.map({ $0 != "0" }) == true else { return }
        throw Problem(.httpError, "this call takes no body")
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
            throw Problem(.unknownSession, "there is no session \(text); GET /screencapture lists them")
        }
        if isUse { session.touch() }
        context.audit.note("device", session.device.name)
        context.audit.note("session", session.id)
        return session
    }
}
