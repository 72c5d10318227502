import HeliographAPI
import HummingbirdCore
import Media
import Wire

/// What a request for a WebSocket names: a session, in a container with `?container=mp4`.
package struct WebSocketPath {
    /// The one that WebSockets carry. Each of its pictures is a chunk of its own, and a player wants to know where it begins.
    private static let container = Container.fragmentedMP4
    private static let addresses = Routes.watchOverWebSocket.route.addresses

    let session: SessionID
    /// Nil for Annex B.
    let container: Container?
    /// Nil for the session's way.
    let join: Join?

    /// Nil for other paths, for another container and another way to join, and for what else a query may have.
    package init?(_ uri: String) {
        let parts = uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let ids = Self.addresses.compactMap { $0.value(of: "id", in: parts.first ?? "") }
        guard let session = ids.first.flatMap({ SessionID($0, radix: 10) }) else { return nil }
        self.session = session
        let arguments = parts[at: 1]?.split(separator: "&") ?? []
        guard arguments.allSatisfy({ $0.hasPrefix("container=") || $0.hasPrefix("join=") }),
            arguments.count(where: { $0.hasPrefix("join=") }) <= 1
        else { return nil }
        let named = arguments.filter { $0.hasPrefix("container=") }.map { $0.dropFirst("container=".count) }
        guard named.allSatisfy({ $0 == Self.container.rawValue }) else { return nil }
        container = named.isEmpty ? nil : Self.container
        do {
            join = try Join(query: URI(uri))
        } catch {
            return nil
        }
    }
}

extension Join {
    /// What the query of a call says, nil where it says nothing.
    fileprivate init?(query uri: URI) throws(Problem) {
        guard let word = uri.queryParameters["join"] else { return nil }
        guard let join = Join(rawValue: String(word)) else {
            throw Problem(.unknownValue, "join is \"\(word)\"; allowed: cache or live", field: "join")
        }
        self = join
    }
}
