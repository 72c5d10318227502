import HTTPTypes
import Hummingbird

extension API {
    /// The route of ``WebSocketEntrance``. What comes here was not let in there.
    func addWebSocketRoute(to routes: inout RouteTable) {
        routes.add(.get, "/screencapture/{id}/ws") { _, context in
            let session = try await session(context)
            guard await session.hasRoom else {
                throw Problem(SessionError.tooManyViewers(limit: session.device.maximumViewers))
            }
            var problem = Problem(
                .upgradeRequired,
                "this is a WebSocket: upgrade the connection's first request to it, version 13; see docs/websocket.md"
            )
            problem.headers = [.upgrade: "websocket", .connection: "Upgrade", .secWebSocketVersion: "13"]
            throw problem
        }
    }
}
