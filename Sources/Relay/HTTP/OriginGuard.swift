import HTTPTypes
import HeliographAPI
import Hummingbird

/// Keeps web pages from driving the relay through a visitor's browser.
///
/// A page of another origin is recognized by `Origin` and `Sec-Fetch-Site` (W3C Fetch Metadata). A page whose own name
/// resolves to 127.0.0.1 is recognized by `Host`. That check is skipped if calls need a key: such a page has none, and
/// the relay may have any name.
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
            throw Problem(
                .forbiddenOrigin,
                "pages of \(origin) may not call the relay; its setting allowedOrigins can allow it"
            )
        }
        if CallAudit.isDue(request.method) { try Self.requireOwnSite(request) }
        return try await next(request, context)
    }

    /// Refuses all calls that a browser makes for pages of other sites.
    private static func requireOwnSite(_ request: Request) throws(Problem) {
        guard let site = request.headers[Origin.fetchSite], !Origin.own.contains(site) else { return }
        throw Problem(.forbiddenOrigin, "pages of other sites may not call the relay")
    }
}

extension OriginGuard where Context == RelayRequestContext {
    /// Refuses what a browser fetches for pages of other sites, such as a `fetch` in mode `no-cors`, which has no
    /// `Origin`. A person may follow a link.
    ///
    /// - Parameter isEmbeddable: Whether other pages may show the answer as an image, without a cookie.
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

    /// Refuses a GET that would change something, unless the same call with another method would be allowed.
    static func requireChangesAllowed(_ request: Request) throws(Problem) {
        try requireOwnSite(request)
        try requireOwnPage(request, showing: Credential(request))
    }

    /// Refuses calls with a cookie that do not come from the relay's own page. Browsers send the cookie by themselves,
    /// so a call that changes something must name its origin.
    static func requireOwnPage(_ request: Request, showing credential: Credential) throws(Problem) {
        guard case .login = credential else { return }
        // A foreign `Origin` was refused earlier.
        guard request.headers[.origin] != nil || request.headers[Origin.fetchSite] == "same-origin" else {
            throw Problem(
                .forbiddenOrigin,
                "a call with a cookie needs the Origin of the relay's own page"
            )
        }
    }
}

/// Rules for the `Host` and `Origin` headers.
package enum Origin {
    static let fetchSite = HTTPField.Name("Sec-Fetch-Site")!
    static let fetchDestination = HTTPField.Name("Sec-Fetch-Dest")!
    /// The values of `Sec-Fetch-Site` for the relay's own pages, and for addresses that a person typed.
    static let own: Set<String> = ["same-origin", "none"]

    /// Returns whether `authority`, a Host header's value, names this machine by a loopback address or as localhost.
    package static func isLocal(authority: String?) -> Bool {
        guard let authority else { return false }
        if let endpoint = Endpoint(authority) { return endpoint.isLoopback }
        let host =
            authority.hasPrefix("[") && authority.hasSuffix("]") ? String(authority.dropFirst().dropLast()) : authority
        return Endpoint.isLoopback(host: host)
    }

    /// Returns whether a page of `origin` was served by `authority` itself: by the relay, or over HTTPS by a proxy in
    /// front of it.
    ///
    /// - Parameter isSecure: Whether the relay speaks HTTPS. If so, pages over HTTP belong to another server.
    package static func isSame(_ origin: String, authority: String?, isSecure: Bool) -> Bool {
        guard let authority = authority?.lowercased() else { return false }
        let schemes = isSecure ? ["https"] : ["http", "https"]
        return schemes.contains { origin.lowercased() == "\($0)://\(authority)" }
    }
}
