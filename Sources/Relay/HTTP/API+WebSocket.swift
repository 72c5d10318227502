import HTTPTypes
import Hummingbird

extension API {
    /// The route of ``WebSocketEntrance``. What comes here was not let in there.
    func addWebSocketRoute(to routes: inout RouteTable) {
        routes.add(.get, "/screencapture/{id}/ws", for: .viewer, query: ["container", "join"]) { request, context in
            try Self.noBody(request)
            let session = try await session(context)
            _ = try Join(query: request.uri)
            guard WebSocketPath("\(request.uri)") != nil else {
                throw Problem(.unknownValue, "container is none of a WebSocket's; there is: mp4", field: "container")
            }
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
