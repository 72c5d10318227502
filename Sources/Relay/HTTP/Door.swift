import HTTPTypes
import HeliographAPI
import Hummingbird
import NIOCore

/// Where calls come in.
enum Door: Sendable {
    /// The relay's own address.
    case own
    /// The port that only the tunnel's program should use. Its calls come from the internet, though their connections
    /// come from this machine.
    case tunnel

    /// cloudflared's name for the caller's address.
    private static let forwarded = HTTPField.Name("CF-Connecting-IP")

    /// Returns what a call needs here. At the tunnel every call needs a key, except for the page's files and the login.
    func access(to route: Route) -> RouteAccess {
        guard self == .tunnel, route.access == .anyone, !route.isOfLogin else { return route.access }
        return .viewer
    }

    /// Returns the address of the caller at the other end of the tunnel; `nil` if the request does not name one.
    static func forwardedAddress(_ request: Request) -> SocketAddress? {
        let values = forwarded.map { request.headers[values: $0] } ?? []
        guard values.count == 1, let value = values.first else { return nil }
        return try? SocketAddress(ipAddress: value, port: 0)
    }
}

extension Route {
    /// Whether the page needs it before its user has shown a key.
    fileprivate var isOfLogin: Bool {
        [Routes.getPage.route.name, Routes.getPageFile.route.name, Routes.logIn.route.name, Routes.logOut.route.name]
            .contains(name)
    }
}
