import Access
import HTTPTypes
import HeliographAPI
import Hummingbird
import NIOCore

/// The API's routes, and the one place that lets callers in.
///
/// Registers what is served and for whom, at each of a route's addresses, answers other methods of the same paths with
/// what is allowed, and has the log tell of calls that change something.
struct RouteTable {
    typealias Handler = @Sendable (Request, RelayRequestContext) async throws -> Response

    private struct Entry {
        let route: Route
        let handler: Handler
    }

    /// All that a connection's parser lets through, those that are served before others. CONNECT is none, since it has no path.
    private static let methods: [HTTPRequest.Method] = {
        let others = """
            ACL BIND CHECKOUT COPY LINK LOCK M-SEARCH MERGE MKACTIVITY MKCALENDAR MKCOL MOVE NOTIFY PROPFIND PROPPATCH PURGE QUERY \
            REBIND REPORT SEARCH SOURCE SUBSCRIBE UNBIND UNLINK UNLOCK UNSUBSCRIBE
            """
        return [.get, .head, .post, .put, .patch, .delete, .options, .trace]
            + others.split(separator: " ").compactMap { HTTPRequest.Method(String($0)) }
    }()

    private var entries: [String: [HTTPRequest.Method: Entry]] = [:]

    /// Serves a call that answers a report; with GET also HEAD, whose answer loses its body in ``ProblemMiddleware``.
    mutating func add<Arguments, Report>(
        _ call: Call<Arguments, Report>,
        _ handler: @escaping @Sendable (Arguments, Request, RelayRequestContext) async throws -> Report
    ) where Report: APIModel {
        respond(to: call) { arguments, request, context in
            try Answer.json(try await handler(arguments, request, context), status: call.route.answer.status)
        }
    }

    /// Serves a call whose answer has headers of its own, or is no JSON.
    ///
    /// - Parameter path: The path, if the route's has a parameter for which each value is served by itself.
    mutating func respond<Arguments, Output>(
        to call: Call<Arguments, Output>,
        at path: String? = nil,
        _ handler: @escaping @Sendable (Arguments, Request, RelayRequestContext) async throws -> Response
    ) {
        for route in path.map({ [call.route.at($0)] }) ?? call.route.addresses {
            let entry = Entry(route: route) { request, context in
                let arguments = try await API.arguments(
                    Arguments.self,
                    of: request,
                    to: route,
                    device: context.parameters.get("device")
                )
                return try await handler(arguments, request, context)
            }
            entries[route.path, default: [:]][HTTPRequest.Method(route.method)] = entry
            guard route.method == .get else { continue }
            entries[route.path, default: [:]][.head] = entry
        }
    }

    func router(access: AccessControl, isSecure: Bool) -> Router<RelayRequestContext> {
        let router = Router(context: RelayRequestContext.self)
        router.middlewares.add(ProblemMiddleware())
        router.middlewares.add(WholePaths())
        router.middlewares.add(OriginGuard(access: access, isSecure: isSecure))
        for (path, served) in entries {
            let allowed = Self.methods.filter { served[$0] != nil }
            for method in Self.methods {
                let handler = served[method].map { Self.admitting($0, by: access) } ?? refusal(allowing: allowed)
                router.on(RouterPath(path), method: method, use: handler)
            }
        }
        return router
    }

    private static func admitting(_ entry: Entry, by access: AccessControl) -> Handler {
        { request, context in
            let credential = Credential(request)
            if entry.route.access != .anyone {
                try OriginGuard.requireOwnSite(request, isEmbeddable: entry.route.isEmbeddable, showing: credential)
            }
            let caller: Caller
            do {
                caller = try access.admit(credential, to: entry.route.access, from: context.channel.remoteAddress)
            } catch let error as Problem where CallAudit.isDue(request.method) && error.code == .forbiddenRole {
                let caller = access.caller(showing: credential) ?? .stranger
                context.audit.log(request, by: caller, from: context, under: access, answer: .failure(error))
                throw error
            }
            // Who was let in without a role is on a route for anyone.
            if entry.route.access != .anyone { access.hold(context.channel, by: caller) }
            var context = context
            context.caller = caller
            let answer: Response
            do {
                answer = try await Self.answer(request, showing: credential, context, by: entry, under: access)
            } catch {
                access.release(context.channel)
                throw error
            }
            // An answer that ends its connection is a stream. Between calls a connection is nobody's: it is not to be closed as the next one comes.
            if answer.headers[.connection] == "close" {
                access.releaseAtEnd(of: context.channel)
            } else {
                access.release(context.channel)
            }
            return answer
        }
    }

    /// Answers a caller who may, and has the log tell of it where that is due.
    private static func answer(
        _ request: Request,
        showing credential: Credential,
        _ context: RelayRequestContext,
        by entry: Entry,
        under access: AccessControl
    ) async throws -> Response {
        guard CallAudit.isDue(request.method) else { return try await entry.handler(request, context) }
        let answer: Result<Response, any Error>
        do {
            try OriginGuard.requireOwnPage(request, showing: credential)
            answer = .success(try await entry.handler(request, context))
        } catch {
            answer = .failure(error)
        }
        context.audit.log(request, by: context.caller, from: context, under: access, answer: answer)
        return try answer.get()
    }

    private func refusal(allowing allowed: [HTTPRequest.Method]) -> Handler {
        let allowed = allowed.map(\.rawValue).joined(separator: ", ")
        return { request, _ in
            var problem = Problem(
                .methodNotAllowed,
                "\(request.uri.path) takes \(allowed), not \(request.method.rawValue)"
            )
            problem.headers[.allow] = allowed
            throw problem
        }
    }
}

/// Refuses paths with an empty part, which the router would pass over: where a script has no session for
/// `POST /v1/sessions/$SESSION/stop`, that would stop all sessions.
private struct WholePaths: RouterMiddleware {
    func handle(
        _ request: Request,
        context: RelayRequestContext,
        next: (Request, RelayRequestContext) async throws -> Response
    ) async throws -> Response {
        guard !request.uri.path.contains("//") else {
            throw Problem(.unknownRoute, "\(request.uri.path) has an empty part: is a variable of the caller's unset?")
        }
        return try await next(request, context)
    }
}

extension HTTPRequest.Method {
    fileprivate init(_ method: Route.Method) {
        self =
            switch method {
            case .get: .get
            case .post: .post
            case .patch: .patch
            }
    }
}

extension Credential {
    init(_ request: Request) {
        self.init(
            authorization: request.headers[values: .authorization],
            cookies: request.headers[values: .cookie],
            authority: request.head.authority
        )
    }
}

/// What a request's handler knows beside the request.
struct RelayRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection that it came on.
    let channel: any Channel
    /// Who makes it; known once ``RouteTable`` has let them in.
    var caller = Caller.stranger
    /// What the log is to say of it.
    let audit = CallAudit()

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
