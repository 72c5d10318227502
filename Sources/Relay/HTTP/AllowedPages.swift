import HTTPTypes
import Hummingbird

/// Lets pages of the allowed origins call (CORS, WHATWG Fetch, section 3.2).
///
/// Such a call counts as one of no page, and without the login's cookie: if there are keys, it needs its own.
struct AllowedPages: HTTPResponder {
    private static let leftOut: Set<HTTPField.Name> = [
        .cookie, .origin, Origin.fetchSite, Origin.fetchDestination,
    ]

    private let next: any HTTPResponder<RelayRequestContext>
    /// In lower case.
    private let origins: Set<String>
    private let isSecure: Bool

    init(_ router: Router<RelayRequestContext>, origins: Set<String>, isSecure: Bool) {
        (next, self.origins, self.isSecure) = (router.buildResponder(), origins, isSecure)
    }

    func respond(to request: Request, context: RelayRequestContext) async throws -> Response {
        guard let origin = request.headers[.origin], origins.contains(origin.lowercased()),
            !Origin.isSame(origin, authority: request.head.authority, isSecure: isSecure)
        else { return try await next.respond(to: request, context: context) }
        var answer: Response
        if request.method == .options {
            answer = Response(
                status: .noContent,
                headers: [
                    .accessControlAllowMethods: "GET, HEAD, POST, PUT, PATCH, DELETE",
                    .accessControlAllowHeaders: "Authorization, Content-Type, If-None-Match, If-Range, "
                        + "Last-Event-ID, Range",
                    .accessControlMaxAge: "600",
                ]
            )
        } else {
            var (head, context) = (request.head, context)
            head.headerFields.removeAll { Self.leftOut.contains($0.name) }
            context.isOtherPage = true
            answer = try await next.respond(to: Request(head: head, body: request.body), context: context)
        }
        answer.headers[.accessControlAllowOrigin] = origin
        answer.headers[.accessControlExposeHeaders] = "*"
        answer.headers[.vary] = "Origin"
        return answer
    }
}
