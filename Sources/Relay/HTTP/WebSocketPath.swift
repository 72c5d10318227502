import HeliographAPI
import HummingbirdCore
import Media
import Wire

/// The session that a WebSocket request names; in a container with `?container=mp4`.
package struct WebSocketPath {
    /// The only container for WebSockets. Each picture is a chunk of its own, because a player must know where it
    /// begins.
    private static let container = Container.fragmentedMP4
    private static let addresses = Routes.watchOverWebSocket.route.addresses

    /// How a path names a session.
    enum Session {
        case id(SessionID)
        case named(device: String, name: String)
        /// A device's shared session.
        case shared(device: String)
    }

    let session: Session
    /// The container; `nil` for Annex B.
    let container: Container?
    /// Whether the container has the device's sound.
    let audio: Bool
    /// How the viewer begins; `nil` for the session's setting.
    let join: Join?

    /// Parses a path. Returns `nil` for other paths, and for a query with other names or values.
    package init?(_ uri: String) {
        let parts = uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let session = Self.addresses.lazy.compactMap({ Session(parts.first ?? "", at: $0) }).first else {
            return nil
        }
        self.session = session
        let arguments = parts[at: 1]?.split(separator: "&") ?? []
        let names = ["container=", "join=", "audio="]
        guard arguments.allSatisfy({ argument in names.contains { argument.hasPrefix($0) } }),
            ["join=", "audio="].allSatisfy({ name in arguments.count { $0.hasPrefix(name) } <= 1 }),
            arguments.allSatisfy({ !$0.hasPrefix("audio=") || ["audio=true", "audio=false"].contains($0) })
        else { return nil }
        audio = arguments.contains("audio=true")
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

extension WebSocketPath.Session {
    /// Returns `nil` unless the path has this address.
    fileprivate init?(_ path: Substring, at address: Route) {
        let device = address.value(of: "device", in: path)
        switch address.addressKind {
        case .main, .alias:
            guard let id = address.value(of: "id", in: path).flatMap({ SessionID($0, radix: 10) }) else { return nil }
            self = .id(id)
        case .named:
            guard let device, let name = address.value(of: "name", in: path) else { return nil }
            self = .named(device: device, name: name)
        case .device:
            guard let device else { return nil }
            self = .shared(device: device)
        }
    }
}

extension Join {
    /// Reads the query of a call. Absent fields are `nil`.
    fileprivate init?(query uri: URI) throws(Problem) {
        guard let word = uri.queryParameters["join"] else { return nil }
        guard let join = Join(rawValue: String(word)) else {
            throw Problem(.unknownValue, "join is \"\(word)\"; allowed: cache or live", field: "join")
        }
        self = join
    }
}
