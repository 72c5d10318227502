import Program

/// Which tunnel the relay runs.
package enum TunnelChoice: Sendable, Equatable {
    case none
    /// A quick tunnel: Cloudflare chooses its address at each start.
    case quick
    /// A tunnel of the operator's account, by its name.
    case named(String)

    static let words = "none, quick, or named: and a name"

    package init?(_ text: String) {
        switch text {
        case "none": self = .none
        case "quick": self = .quick
        default:
            guard text.hasPrefix("named:") else { return nil }
            let name = String(text.dropFirst("named:".count))
            guard name.isName, !name.hasPrefix("-") else { return nil }
            self = .named(name)
        }
    }

    /// What ``init(_:)`` reads.
    var text: String {
        switch self {
        case .none: "none"
        case .quick: "quick"
        case .named(let name): "named:\(name)"
        }
    }

    /// The arguments of cloudflared.
    ///
    /// - Parameter port: The relay's port for the tunnel.
    func arguments(port: Int) -> [String] {
        // A configuration file of the user could lead the tunnel elsewhere.
        let tunnel = ["tunnel", "--no-autoupdate", "--config", "/dev/null", "--grace-period", "2s"]
        let origin = ["--url", "http://127.0.0.1:\(port)"]
        return switch self {
        case .none: []
        case .quick: tunnel + origin
        case .named(let name): tunnel + ["run"] + origin + [name]
        }
    }
}
