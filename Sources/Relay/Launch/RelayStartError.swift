package import Access
import NIOCore

/// Why the relay cannot start.
package enum RelayStartError: Error, Equatable, CustomStringConvertible {
    case portInUse(purpose: String, endpoint: Endpoint)
    case cannotBind(purpose: String, endpoint: Endpoint, reason: String)
    case notLoopback(option: String, endpoint: Endpoint)
    case keys(KeyFileError)
    /// Other machines could reach the relay, and TLS or keys are missing.
    case open(endpoint: Endpoint, hasTLS: Bool, hasKeys: Bool, keysFile: String?)
    /// A tunnel opens the relay to the internet.
    case tunnelWithoutKeys(keysFile: String?)
    /// There is no place for the clients that pair.
    case pairingWithoutKeysFile
    case certificate(path: String, reason: String)
    case certificateUnreadable(path: String, reason: String)
    case noStateDirectory
    case tokenUnreadable(path: String, reason: String)
    case tokenTooShort(source: String)
    case portsFileUnwritable(path: String, reason: String)
    case webhookSecret(webhook: String, path: String, reason: String)
    case webhookDevice(webhook: String, device: String)
    /// A device's standing sessions cannot all exist.
    case standingSessions(device: String, reason: String)

    init(binding purpose: String, to endpoint: Endpoint, error: any Error) {
        if let error = error as? IOError, error.errnoCode == Self.addressInUse {
            self = .portInUse(purpose: purpose, endpoint: endpoint)
        } else {
            self = .cannotBind(purpose: purpose, endpoint: endpoint, reason: "\(error)")
        }
    }

    /// The value of EADDRINUSE on Linux.
    static let addressInUse: CInt = 98

    private static func missing(_ endpoint: Endpoint, hasTLS: Bool, hasKeys: Bool, keysFile: String?) -> String {
        let tls = "encryption (--tls self-signed, or --tls-certificate FILE --tls-key FILE)"
        let missing = [hasTLS ? nil : tls, hasKeys ? nil : keys(keysFile)].compactMap(\.self).joined(separator: " and ")
        return
            "\(endpoint) is for other machines as well, which needs \(missing); or listen on 127.0.0.1 and use an SSH tunnel"
    }

    /// How to get keys.
    private static func keys(_ file: String?) -> String {
        file.map { "keys (heliograph keys make NAME --role operator --keys-file \($0))" }
            ?? "keys (--keys-file FILE, made by heliograph keys make NAME --role operator --keys-file FILE)"
    }

    /// The setting that causes the error, if any.
    package var setting: String? {
        switch self {
        case .open: "http"
        case .certificate, .certificateUnreadable, .noStateDirectory: "tls"
        case .keys: "keysFile"
        case .tunnelWithoutKeys: "tunnel"
        case .pairingWithoutKeysFile: "requirePairing"
        case .notLoopback: "agentLink"
        case .webhookSecret, .webhookDevice: "webhooks"
        case .standingSessions: "devices"
        case .portInUse, .cannotBind, .tokenUnreadable, .tokenTooShort, .portsFileUnwritable: nil
        }
    }

    package var description: String {
        switch self {
        case .portInUse(let purpose, let endpoint):
            "port \(endpoint.port) for \(purpose) is in use: stop what listens on \(endpoint), or choose another port"
        case .cannotBind(let purpose, let endpoint, let reason):
            "cannot listen on \(endpoint) for \(purpose): \(reason)"
        case .notLoopback(let option, let endpoint):
            "\(option) \(endpoint) is not a loopback address: agents are on this machine, so it listens on 127.0.0.1, "
                + "::1 or localhost only"
        case .open(let endpoint, let hasTLS, let hasKeys, let keysFile):
            Self.missing(endpoint, hasTLS: hasTLS, hasKeys: hasKeys, keysFile: keysFile)
        case .tunnelWithoutKeys(let keysFile):
            "a tunnel opens the relay to the internet, which needs \(Self.keys(keysFile))"
        case .pairingWithoutKeysFile:
            "clients that pair are kept in the file of the keys, and there is none: name one with --keys-file"
        case .certificate(let path, let reason): "cannot use the certificate and key in \(path): \(reason)"
        case .certificateUnreadable(let path, let reason): "cannot read \(path): \(reason)"
        case .noStateDirectory:
            "there is no home directory to keep a self-signed certificate in: set XDG_STATE_HOME, or name --tls-certificate and --tls-key"
        case .keys(let error): "\(error)"
        case .tokenUnreadable(let path, let reason):
            "cannot read the link token file \(path): \(reason)"
        case .tokenTooShort(let source):
            "the link token in \(source) has fewer than \(LinkToken.minimumLength) characters: "
                + "make one with `openssl rand -hex 32`"
        case .portsFileUnwritable(let path, let reason):
            "cannot write the ports file \(path): \(reason)"
        case .webhookSecret(let webhook, let path, let reason):
            "cannot use the secret of webhook \(webhook) in \(path): \(reason)"
        case .webhookDevice(let webhook, let device):
            "webhook \(webhook) is for device \(device), which `devices` does not list"
        case .standingSessions(let device, let reason):
            "the sessions of device \(device) cannot all exist: \(reason)"
        }
    }
}
