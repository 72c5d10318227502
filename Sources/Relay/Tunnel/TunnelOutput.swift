import Media

/// What a line of cloudflared's standard error says about the tunnel.
package enum TunnelOutput: Sendable, Equatable {
    /// The tunnel's address: `https://` and a host name.
    case address(String)
    /// This connection to Cloudflare stands, or is lost. A tunnel has several, and can be used as long as one stands.
    case connection(Int, stands: Bool)

    /// What cloudflared says of a connection that it loses.
    private static let losses = [
        "Unregistered tunnel connection", "Lost connection with the edge", "Connection terminated",
    ]

    /// Cloudflare's own host, which cloudflared names when it cannot reach it.
    private static let service = "api.trycloudflare.com"

    /// Reads a line; `nil` if it says neither.
    package init?(_ line: String) {
        let index = Self.number(after: "connIndex=", in: line)
        if let index, line.contains("Registered tunnel connection") {
            self = .connection(index, stands: true)
        } else if let index, Self.losses.contains(where: line.contains) {
            self = .connection(index, stands: false)
        } else if let host = Self.host(after: "https://", in: line), host.hasSuffix(".trycloudflare.com"),
            host != Self.service
        {
            self = .address("https://\(host)")
        } else if line.contains("Updated to new configuration"),
            let host = Self.host(after: #"\"hostname\":\""#, in: line) ?? Self.host(after: #""hostname":""#, in: line)
        {
            self = .address("https://\(host)")
        } else {
            return nil
        }
    }

    /// Returns what follows the first `mark`; `nil` if there is none.
    private static func rest(after mark: String, in line: String) -> Substring? {
        line.split(separator: mark, maxSplits: 1, omittingEmptySubsequences: false)[at: 1]
    }

    /// Returns the number that follows `mark`; `nil` if there is none.
    private static func number(after mark: String, in line: String) -> Int? {
        rest(after: mark, in: line).flatMap { Int($0.prefix { $0.isASCII && $0.isNumber }, radix: 10) }
    }

    /// Returns the host name that follows `mark`; `nil` if there is none.
    private static func host(after mark: String, in line: String) -> String? {
        guard let rest = rest(after: mark, in: line) else { return nil }
        let host = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "-.".contains($0)) }
        return (1...253).contains(host.utf8.count) && host.contains(".") ? String(host) : nil
    }
}
