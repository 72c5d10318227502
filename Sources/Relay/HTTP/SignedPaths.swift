import HTTPTypes
import Hummingbird

/// The path of calls at a signed link: `/signed/LINK`, and then the path of the call itself.
package enum SignedPath {
    static let root = "/signed/"

    /// Returns the link and the path of the call; `nil` if the path has no link.
    package static func split(_ path: String) -> (link: String, path: String)? {
        guard path.hasPrefix(root) else { return nil }
        let rest = path.dropFirst(root.count)
        let link = rest.prefix { !"/?#".contains($0) }
        let call = rest.dropFirst(link.count)
        return !link.isEmpty && call.hasPrefix("/") ? (String(link), String(call)) : nil
    }
}

/// Routes calls at signed links like calls at the path without the link.
///
/// The link is the only credential of such a call, and the browser does not send it by itself. So it does not matter
/// which page makes the call: what says so is left out, and any page may read the answer.
struct SignedPaths: HTTPResponder {
    private static let leftOut: Set<HTTPField.Name> = [
        .authorization, .cookie, .origin, Origin.fetchSite, Origin.fetchDestination,
    ]

    private let next: any HTTPResponder<RelayRequestContext>

    init(_ next: any HTTPResponder<RelayRequestContext>) { self.next = next }

    func respond(to request: Request, context: RelayRequestContext) async throws -> Response {
        guard let (link, path) = request.head.path.flatMap(SignedPath.split) else {
            return try await next.respond(to: request, context: context)
        }
        var (head, context) = (request.head, context)
        head.path = path
        head.headerFields.removeAll { Self.leftOut.contains($0.name) }
        context.link = link
        var answer = try await next.respond(to: Request(head: head, body: request.body), context: context)
        answer.headers[.accessControlAllowOrigin] = "*"
        return answer
    }
}
