/// All calls of the API.
package enum Routes {
    /// In the order of openapi.json.
    package static let all = broadcasts + sessions + viewers + access + monitoring + page

    /// The place of a call about a session: its path with the session's id.
    package static func path(of route: Route, session id: UInt32) -> String {
        route.path.replacing("{id}", with: "\(id)")
    }
}
