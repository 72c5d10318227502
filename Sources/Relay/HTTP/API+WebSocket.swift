import HTTPTypes
import HeliographAPI

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
