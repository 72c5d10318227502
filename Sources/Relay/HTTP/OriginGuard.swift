import HTTPTypes
import Hummingbird

/// Keeps web pages from driving the relay through a visitor's browser.
///
/// A page of another origin shows itself in `Origin`; one that had its own name resolved to 127.0.0.1 shows itself in `Host`.
struct OriginGuard<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let authority = request.head.authority
        guard Origin.isLocal(authority: authority) else {
            throw Problem(
                .forbiddenOrigin,
                "the Host header names \(authority ?? "nothing"): call the relay as localhost or by its loopback address"
            )
        }
        if let origin = request.headers[.origin], !Origin.isSame(origin, authority: authority) {
            throw Problem(.forbiddenOrigin, "pages of \(origin) may not call the relay")
        }
        return try await next(request, context)
    }
}

/// Rules for the `Host` and `Origin` headers.
package enum Origin {
    /// Whether `authority`, a Host header's value, names this machine by a loopback address or as localhost.
    package static func isLocal(authority: String?) -> Bool {
        guard let authority else { return false }
        if let endpoint = Endpoint(authority) { return endpoint.isLoopback }
        let host =
            authority.hasPrefix("[") && authority.hasSuffix("]") ? String(authority.dropFirst().dropLast()) : authority
        return Endpoint.isLoopback(host: host)
    }

    /// Whether a page of `origin` was served by `authority` itself.
    package static func isSame(_ origin: String, authority: String?) -> Bool {
        authority.map { origin.lowercased() == "http://\($0.lowercased())" } ?? false
    }
}
