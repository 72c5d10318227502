import HTTPTypes
import HeliographAPI
import Hummingbird
import Library
import Packaging

extension API {
    func addCatalogueRoutes(to routes: inout RouteTable) {
        routes.respond(to: Routes.getLibraryCatalogue) { query, request, context in
            try await catalogue(query, request, context.caller.scope)
        }
    }

    private func catalogue(
        _ query: CatalogueQuery,
        _ request: Request,
        _ scope: DeviceScope
    ) async throws -> Response {
        let state = try await inLibrary { try $0.copyState(since: query.since, scope: scope) }
        // A caller that has everything is answered without a copy.
        if request.headers[.ifNoneMatch] == Self.tag(state.mark) {
            return Response(status: .notModified, headers: Self.headers(state.mark))
        }
        let since = state.isChanges ? query.since : nil
        let leastFree = UInt64(clamping: await switchboard.configuration.libraryFree)
        let copy = try await switchboard.recordings.copies.copy(since: since, scope: scope) {
            try await inLibrary { try $0.copy(since: since, scope: scope, leastFree: leastFree) }
        }
        var headers = Self.headers(copy.mark)
        headers[.contentType] = "application/vnd.sqlite3"
        let body = FileBody([.file(copy.file, FilePiece(offset: 0, length: copy.file.length))])
        return Response(status: .ok, headers: headers, body: body.response)
    }

    private static func tag(_ mark: String) -> String { "\"\(mark)\"" }

    private static func headers(_ mark: String) -> HTTPFields {
        [.eTag: tag(mark), .cacheControl: "private, no-cache", .vary: "Authorization, Cookie"]
    }
}
