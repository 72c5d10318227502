import HTTPTypes
import Hummingbird
import NIOCore
import Wire

/// The HTTP API.
struct API: Sendable {
    /// Longest request body in bytes.
    private static let maximumBody = 64 << 10

    let switchboard: Switchboard

    func router() -> Router<RelayRequestContext> {
        var routes = RouteTable()
        addBroadcastRoutes(to: &routes)
        addSessionRoutes(to: &routes)
        addStreamRoutes(to: &routes)
        addWebSocketRoute(to: &routes)
        addPageRoutes(to: &routes)
        routes.add(.get, "/metrics") { _, _ in
            Answer.text(await metrics(), type: "text/plain; version=0.0.4; charset=utf-8")
        }
        routes.add(.get, "/livez") { _, _ in
            Answer.json(["status": "ok", "release": .string(Release.current)])
        }
        return routes.router()
    }

    /// What `read` makes of a request's body, of which empty bytes stand for `{}`. Its content type is not asked for.
    static func arguments<Value>(
        _ request: Request,
        _ read: (inout ObjectReader) -> Value?
    ) async throws -> Value {
        let body: ByteBuffer
        do {
            body = try await request.body.collect(upTo: maximumBody)
        } catch is NIOTooManyBytesError {
            throw Problem(.bodyTooLarge, "the body is longer than \(maximumBody) bytes")
        } catch {
            // Broken chunks, or a client that left: no fault of the relay's.
            throw Problem(.httpError, "the body cannot be read: \(error)")
        }
        do {
            return try ObjectReader.read(try members(body), read)
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

    /// The device in the body of a call that takes no other argument, nil when it names none.
    static func deviceArgument(_ request: Request) async throws -> String? {
        try await arguments(request) { reader in
            let device = reader.device()
            reader.finish()
            return .some(device)
        }
    }

    /// Reads the body of a call that takes no arguments.
    static func noArguments(_ request: Request) async throws {
        try await arguments(request) { $0.finish() }
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

    /// The session that the path names; the call counts as use of it.
    @MediaLoop
    func session(_ context: RelayRequestContext) throws(Problem) -> Session {
        let text = context.parameters.get("id") ?? ""
        guard let id = UInt32(text), let session = switchboard.sessions[id] else {
            throw Problem(.unknownSession, "there is no session \(text); GET /screencapture lists them")
        }
        session.touch()
        return session
    }

    @MediaLoop
    private func metrics() -> String { RelayMetrics.text(of: switchboard) }
}
