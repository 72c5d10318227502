import NIOCore

/// Why the relay cannot start.
package enum RelayStartError: Error, Equatable, CustomStringConvertible {
    case portInUse(purpose: String, endpoint: Endpoint)
    case cannotBind(purpose: String, endpoint: Endpoint, reason: String)
    case notLoopback(option: String, endpoint: Endpoint)
    case tokenUnreadable(path: String, reason: String)
    case tokenTooShort(source: String)
    case portsFileUnwritable(path: String, reason: String)

    init(binding purpose: String, to endpoint: Endpoint, error: any Error) {
        if let error = error as? IOError, error.errnoCode == Self.addressInUse {
            self = .portInUse(purpose: purpose, endpoint: endpoint)
        } else {
            self = .cannotBind(purpose: purpose, endpoint: endpoint, reason: "\(error)")
        }
    }

    /// Linux's EADDRINUSE.
    static let addressInUse: CInt = 98

    package var description: String {
        switch self {
        case .portInUse(let purpose, let endpoint):
            "port \(endpoint.port) for \(purpose) is in use: stop what listens on \(endpoint), or choose another port"
        case .cannotBind(let purpose, let endpoint, let reason):
            "cannot listen on \(endpoint) for \(purpose): \(reason)"
        case .notLoopback(let option, let endpoint):
            "\(option) \(endpoint) is not a loopback address: this release has no access control, so it listens on 127.0.0.1, "
                + "::1 or localhost only; use an SSH tunnel from other machines"
        case .tokenUnreadable(let path, let reason):
            "cannot read the link token file \(path): \(reason)"
        case .tokenTooShort(let source):
            "the link token in \(source) has fewer than \(LinkToken.minimumLength) characters: "
                + "make one with `openssl rand -hex 32`"
        case .portsFileUnwritable(let path, let reason):
            "cannot write the ports file \(path): \(reason)"
        }
    }
}
