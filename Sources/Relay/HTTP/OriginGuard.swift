import HTTPTypes
import HeliographAPI
import Hummingbird

/// Keeps web pages from driving the relay through a visitor's browser.
///
/// A page of another origin shows itself in `Origin`, and in `Sec-Fetch-Site` (W3C Fetch Metadata); one that had its own name resolved to 127.0.0.1 shows
/// itself in `Host`. Where calls need a key that last one has none, and the relay may go by any name.
struct OriginGuard<Context: RequestContext>: RouterMiddleware {
    let access: AccessControl
    /// Whether the relay itself speaks HTTPS.
    let isSecure: Bool

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let authority = request.head.authority
        guard access.isOn || Origin.isLocal(authority: authority) else {
            throw Problem(
                .forbiddenOrigin,
                "the Host header names \(authority ?? "nothing"): call the relay as localhost or by its loopback address"
            )
        }
        if let origin = request.headers[.origin], !Origin.isSame(origin, authority: authority, isSecure: isSecure) {
            throw Problem(.forbiddenOrigin, "pages of \(origin) may not call the relay")
        }
        if CallAudit.isDue(request.method), let site = request.headers[Origin.fetchSite], !Origin.own.contains(site) {
            throw Problem(.forbiddenOrigin, "pages of other sites may not call the relay")
        }
        return try await next(request, context)
    }
}

extension OriginGuard where Context == RelayRequestContext {
    /// Refuses what pages of other sites have a browser fetch, such as a `fetch` in mode `no-cors`, which has no `Origin`. A person may follow a link.
    ///
    /// - Parameter isEmbeddable: Whether they may show it as a picture, without a cookie.
    static func requireOwnSite(_ request: Request, isEmbeddable: Bool, showing credential: Credential) throws(Problem) {
        guard let site = request.headers[Origin.fetchSite], !Origin.own.contains(site) else { return }
        switch (request.headers[Origin.fetchDestination], credential) {
        case ("document"?, _): return
        case ("image"?, .login): break
        case ("image"?, _) where isEmbeddable: return
        default: break
        }
        throw Problem(.forbiddenOrigin, "pages of other sites may not call the relay")
    }

    /// Browsers send the page's cookie by themselves: a call that changes something has to come from the relay's own page, and to say so.
    static func requireOwnPage(_ request: Request, showing credential: Credential) throws(Problem) {
        guard case .login = credential else { return }
        // What another page's Origin says was refused before.
        guard request.headers[.origin] != nil || request.headers[Origin.fetchSite] == "same-origin" else {
            throw Problem(
                .forbiddenOrigin,
                "a call with a cookie has to say by its Origin that it is of the relay's own page"
            )
        }
    }
}

/// Rules for the `Host` and `Origin` headers.
package enum Origin {
    static let fetchSite = HTTPField.Name("Sec-Fetch-Site")!
    static let fetchDestination = HTTPField.Name("Sec-Fetch-Dest")!
    /// What the former says of the relay's own pages, and of what a person typed.
    static let own: Set<String> = ["same-origin", "none"]

    /// Whether `authority`, a Host header's value, names this machine by a loopback address or as localhost.
    package static func isLocal(authority: String?) -> Bool {
        guard let authority else { return false }
        if let endpoint = Endpoint(authority) { return endpoint.isLoopback }
        let host =
            authority.hasPrefix("[") && authority.hasSuffix("]") ? String(authority.dropFirst().dropLast()) : authority
        return Endpoint.isLoopback(host: host)
    }

    /// Whether a page of `origin` was served by `authority` itself: by the relay, or over HTTPS by a proxy before it.
    ///
    /// - Parameter isSecure: Whether the relay speaks HTTPS. Pages over HTTP are then somebody else's.
    package static func isSame(_ origin: String, authority: String?, isSecure: Bool) -> Bool {
        guard let authority = authority?.lowercased() else { return false }
        let schemes = isSecure ? ["https"] : ["http", "https"]
        return schemes.contains { origin.lowercased() == "\($0)://\(authority)" }
    }
}
