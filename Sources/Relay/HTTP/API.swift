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
        routes.add(.get, "/screencapture/{id}/stream.h264") { try await stream($0, $1) }
        routes.add(.get, "/metrics") { _, _ in
            Answer.text(await metrics(), type: "text/plain; version=0.0.4; charset=utf-8")
        }
        routes.add(.get, "/livez") { _, _ in
            Answer.json(["status": "ok", "release": .string(Release.current)])
        }
        return routes.router()
    }

    /// The arguments in a request's body. Its content type is not asked for.
    static func arguments(_ request: Request) async throws -> RequestArguments {
        let body: ByteBuffer
        do {
            body = try await request.body.collect(upTo: maximumBody)
        } catch is NIOTooManyBytesError {
            throw Problem(.bodyTooLarge, "the body is longer than \(maximumBody) bytes")
        } catch {
            // Broken chunks, or a client that left: no fault of the relay's.
            throw Problem(.httpError, "the body cannot be read: \(error)")
        }
        return try RequestArguments(body: Array(body.readableBytesView))
    }

    /// Reads the body of a call that takes no arguments.
    static func noArguments(_ request: Request) async throws {
        try await arguments(request).finish()
    }

    @MediaLoop
    func broadcast(_ device: String) throws(Problem) -> Broadcast {
        guard let broadcast = switchboard.broadcast(of: device) else {
            let names = switchboard.allBroadcasts.map(\.device).joined(separator: ", ")
            throw Problem(.unknownDevice, "no device is called \(device); there is: \(names)", field: "device")
        }
        return broadcast
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
