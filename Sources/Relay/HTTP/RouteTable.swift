import Access
import HTTPTypes
import HeliographAPI
import Hummingbird
import NIOCore

/// The API's routes, and the only place that admits callers.
///
/// It registers each route at all of its addresses, with the access it needs. It answers other methods on the same
/// paths with the allowed ones, and logs calls that change something.
struct RouteTable {
    typealias Handler = @Sendable (Request, RelayRequestContext) async throws -> Response

    private struct Entry {
        let route: Route
        let handler: Handler
    }

    /// All methods that a connection's parser accepts, the served ones first. CONNECT is left out because it has no
    /// path.
    private static let methods: [HTTPRequest.Method] = {
        let others = """
            ACL BIND CHECKOUT COPY LINK LOCK M-SEARCH MERGE MKACTIVITY MKCALENDAR MKCOL MOVE NOTIFY PROPFIND PROPPATCH PURGE QUERY \
            REBIND REPORT SEARCH SOURCE SUBSCRIBE UNBIND UNLINK UNLOCK UNSUBSCRIBE
            """
        return [.get, .head, .post, .put, .patch, .delete, .options, .trace]
            + others.split(separator: " ").compactMap { HTTPRequest.Method(String($0)) }
    }()

    private let api: API
    private var entries: [String: [HTTPRequest.Method: Entry]] = [:]

    init(api: API) { self.api = api }

    /// Serves a call that answers with a report. A GET also serves HEAD, whose answer loses its body in
    /// ``ProblemMiddleware``.
    mutating func add<Arguments, Report>(
        _ call: Call<Arguments, Report>,
        _ handler: @escaping @Sendable (Arguments, Request, RelayRequestContext) async throws -> Report
    ) where Report: APIModel {
        respond(to: call) { arguments, request, context in
            try Answer.json(try await handler(arguments, request, context), status: call.route.answer.status)
        }
    }

    /// Serves a call whose answer has headers of its own, or is not JSON.
    ///
    /// - Parameter path: The path, if each value of the route's parameter is served separately.
    mutating func respond<Arguments, Output>(
        to call: Call<Arguments, Output>,
        at path: String? = nil,
        _ handler: @escaping @Sendable (Arguments, Request, RelayRequestContext) async throws -> Response
    ) {
        for route in path.map({ [call.route.at($0)] }) ?? call.route.addresses {
            let entry = Entry(route: route) { [api] request, context in
                try await api.requireLink(for: route.access, context)
                try await api.requireReach(of: route, context)
                let arguments = try await api.arguments(Arguments.self, of: request, to: route, context)
                return try await handler(arguments, request, context)
            }
            entries[route.path, default: [:]][HTTPRequest.Method(route.method)] = entry
            guard route.method == .get else { continue }
            entries[route.path, default: [:]][.head] = entry
        }
    }

    func router(isSecure: Bool) -> Router<RelayRequestContext> {
        let access = api.access
        let router = Router(context: RelayRequestContext.self)
        router.middlewares.add(ProblemMiddleware())
        router.middlewares.add(WholePaths())
        router.middlewares.add(OriginGuard(access: access, isSecure: isSecure))
        for (path, served) in entries {
            let allowed = Self.methods.filter { served[$0] != nil }
            for method in Self.methods {
                let handler =
                    served[method].map { Self.admitting($0, by: access, at: api.door, hasTLS: api.tls != nil) }
                    ?? refusal(allowing: allowed)
                router.on(RouterPath(path), method: method, use: handler)
            }
        }
        return router
    }

    /// Returns a handler that admits callers by the route's access before it calls the route's own.
    private static func admitting(
        _ entry: Entry,
        by access: AccessControl,
        at door: Door,
        hasTLS: Bool
    ) -> Handler {
        let need = door.access(to: entry.route)
        return { request, context in
            var context = context
            let credential = context.link.map(Credential.link) ?? Credential(request)
            if door == .tunnel {
                context.peer = Peer(address: Door.forwardedAddress(request))
            } else if hasTLS, access.considersCertificate(of: context.peer, beside: credential) {
                context.peer.certificate = await context.channel.clientCertificate()
            }
            if context.link != nil, !entry.route.opensByLink { throw access.counted(.forbiddenLink) }
            if need != .anyone {
                try OriginGuard.requireOwnSite(request, isEmbeddable: entry.route.isEmbeddable, showing: credential)
            }
            let caller: Caller
            do {
                caller = try access.admit(credential, to: need, from: context.peer)
            } catch let error as Problem
                where entry.route.isAudited && [.forbiddenRole, .forbiddenLibrary].contains(error.code)
            {
                let caller = access.caller(showing: credential, from: context.peer) ?? .stranger
                context.audit.log(request, by: caller, from: context, under: access, answer: .failure(error))
                throw error
            }
            if entry.route.access == .controller, caller.key == nil {
                do {
                    try await LocalUser.require(request, context)
                } catch let error as Problem {
                    context.audit.log(request, by: caller, from: context, under: access, answer: .failure(error))
                    throw error
                }
            }
            // A caller without a role is on a route for anyone, which no change of the keys affects.
            if need != .anyone { access.hold(context.channel, by: caller) }
            context.caller = caller
            let answer: Response
            do {
                answer = try await Self.answer(request, showing: credential, context, by: entry, under: access)
            } catch {
                access.release(context.channel)
                throw error
            }
            // An answer that ends its connection is a stream. Between calls no key holds a connection, because closing
            // it could hit the next request.
            if answer.headers[.connection] == "close" {
                access.releaseAtEnd(of: context.channel)
            } else {
                access.release(context.channel)
            }
            return answer
        }
    }

    /// Answers an admitted caller, and logs the call if required.
    private static func answer(
        _ request: Request,
        showing credential: Credential,
        _ context: RelayRequestContext,
        by entry: Entry,
        under access: AccessControl
    ) async throws -> Response {
        guard entry.route.isAudited else { return try await entry.handler(request, context) }
        let answer: Result<Response, any Error>
        do {
            if CallAudit.isDue(request.method) { try OriginGuard.requireOwnPage(request, showing: credential) }
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

/// Refuses paths with an empty part, which the router would skip.
///
/// For example, with an empty variable `POST /v1/sessions/$SESSION/stop` would stop all sessions.
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

extension Route {
    /// Whether its calls are logged: those that may change something, and those that read what only few callers should.
    fileprivate var isAudited: Bool { method != .get || access == .controller || auditsReads }

    /// Whether a signed link may be for it: whether it only looks at something.
    fileprivate var opensByLink: Bool { method == .get && [.anyone, .viewer, .look].contains(access) }
}

extension HTTPRequest.Method {
    fileprivate init(_ method: Route.Method) {
        self =
            switch method {
            case .get: .get
            case .post: .post
            case .put: .put
            case .patch: .patch
            case .delete: .delete
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

/// The context of a request's handler.
struct RelayRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection of the request.
    let channel: any Channel
    /// Where the caller is, and its certificate.
    var peer: Peer
    /// The signed link in the request's path; `nil` for none.
    var link: String?
    /// Whether a page of another, allowed origin calls.
    var isOtherPage = false
    /// The caller; known after ``RouteTable`` has admitted it.
    var caller = Caller.stranger
    /// What the log will say about the call.
    let audit = CallAudit()

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
        peer = Peer(address: channel.remoteAddress)
    }
}
