import HTTPTypes
import Hummingbird

/// The API's routes: registers what is served, and answers other methods of the same paths with what is allowed.
struct RouteTable {
    typealias Handler = @Sendable (Request, RelayRequestContext) async throws -> Response

    private static let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options]

    private var handlers: [String: [HTTPRequest.Method: Handler]] = [:]

    /// Serves `path`; with GET also HEAD, whose answer loses its body in ``ProblemMiddleware``.
    mutating func add(_ method: HTTPRequest.Method, _ path: String, _ handler: @escaping Handler) {
        handlers[path, default: [:]][method] = handler
        guard method == .get else { return }
        handlers[path, default: [:]][.head] = handler
    }

    func router() -> Router<RelayRequestContext> {
        let router = Router(context: RelayRequestContext.self)
        router.middlewares.add(ProblemMiddleware())
        router.middlewares.add(OriginGuard())
        for (path, served) in handlers {
            let allowed = Self.methods.filter { served[$0] != nil }.map(\.rawValue).joined(separator: ", ")
            for method in Self.methods {
                let handler = served[method] ?? refusal(allowing: allowed)
                router.on(RouterPath(path), method: method, use: handler)
            }
        }
        return router
    }

    private func refusal(allowing allowed: String) -> Handler {
        { request, _ in
            var problem = Problem(
                .methodNotAllowed,
                "\(request.uri.path) takes \(allowed), not \(request.method.rawValue)"
            )
            problem.headers[.allow] = allowed
            throw problem
        }
    }
}
