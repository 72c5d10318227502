import Access
import Files
import FoundationEssentials
import Logging
import NIOCore
import NIOSSL
import Synchronization

/// Encrypts the relay's connections with the certificate that its files hold now.
final class TLSServer: Sendable {
    /// What clients may know about the certificate.
    struct Description: Sendable, Equatable {
        let fingerprint: Fingerprint
        let isSelfSigned: Bool
        let expires: Date
    }

    private struct State {
        var identity: TLSIdentity
        var files: WatchedFiles
    }

    private let files: TLSFiles
    private let isSelfSigned: Bool
    private let logger: Logger
    private let state: Mutex<State>

    /// Creates the server. Returns `nil` if nothing is encrypted.
    ///
    /// - Parameters:
    ///   - directory: The folder for an identity that the relay makes.
    ///   - host: This machine's name.
    /// - Throws: ``RelayStartError``
    init?(_ settings: TLSSettings, directory: String?, host: String, logger: Logger) throws(RelayStartError) {
        guard let files = try TLSFiles(settings, directory: directory) else { return nil }
        self.files = files
        isSelfSigned = settings == .selfSigned
        if isSelfSigned { try files.makeIfMissing(host: host) }
        self.logger = logger
        let watched = WatchedFiles(files.paths)
        state = Mutex(State(identity: try files.identity(), files: watched))
    }

    var description: Description {
        let identity = state.withLock { $0.identity }
        return Description(
            fingerprint: identity.fingerprint,
            isSelfSigned: isSelfSigned,
            expires: identity.expires
        )
    }

    /// Creates the first handler of a new connection's pipeline, which encrypts it.
    func makeHandler(for use: TLSIdentity.Use) -> NIOSSLServerHandler {
        NIOSSLServerHandler(
            context: state.withLock { $0.identity.context(for: use) },
            // Whether the relay knows a client's certificate is found out by each call.
            customVerificationCallback: { _, promise in promise.succeed(.certificateVerified) }
        )
    }

    func announce() {
        let description = description
        logger.notice(
            "connections are encrypted",
            metadata: [
                "fingerprint": "\(description.fingerprint.text)", "certificate": "\(files.certificate)",
                "expires": "\(description.expires.formatted(.iso8601))",
            ]
        )
    }

    /// Reads the files again if they have changed. New connections use the new certificate. An invalid one is ignored
    /// until the files change again.
    func refresh() {
        do throws(RelayStartError) {
            let isNew = try state.withLock { state throws(RelayStartError) in
                guard state.files.look() else { return false }
                do throws(RelayStartError) {
                    state.identity = try files.identity()
                    return true
                } catch {
                    if case .certificateUnreadable = error { state.files.readAgain() }
                    throw error
                }
            }
            if isNew { announce() }
        } catch {
            logger.error("\(error); the certificate of before is served on")
        }
    }
}
