package import Access
import FoundationEssentials
@preconcurrency import Glibc
import HeliographAPI
package import HeliographClient

/// Trust on first use: the person at the terminal confirms the certificate of a relay, once.
package enum FirstUse {
    private static let answerTime = Duration.seconds(10)

    /// Whether a person can be asked: at a terminal, in the foreground.
    package static var canAsk: Bool {
        isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp()
    }

    /// Returns a relay that may be called. If the authorities do not vouch for its certificate, and nobody has said
    /// which one is right, the person decides, and the answer is kept.
    ///
    /// Without a person, the relay stays as it is: its calls fail.
    ///
    /// - Throws: ``CommandError`` if the person does not trust it; ``RelayError``.
    package static func confirmed(_ relay: RelayTarget) async throws -> RelayTarget {
        guard relay.isSecure, relay.pinned == nil, canAsk, try await !isSignedByAuthority(relay) else { return relay }
        let shown = try await CertificateFingerprint.shown(by: relay.url).fingerprint
        try confirm(shown, of: relay)
        try keep(shown, of: relay)
        return relay.pinned(to: shown)
    }

    /// Asks the person whether a certificate is the relay's.
    ///
    /// - Throws: ``CommandError`` if it is not.
    package static func confirm(_ shown: Fingerprint, of relay: RelayTarget) throws(CommandError) {
        let question = """
            You do not trust the certificate of the relay at \(relay.url) yet. Its SHA-256 fingerprint is
              \(shown.text)
            Is it the one that the relay's log and `heliograph status` there show? Then type yes:\u{20}
            """
        fputs(question, stderr)
        let words = readLine()?.split { $0.isWhitespace }
        guard words == ["yes"] else { throw .failed("the certificate is not trusted") }
    }

    /// Trusts a certificate from now on.
    package static func keep(_ fingerprint: Fingerprint, of relay: RelayTarget) throws {
        try known().add(fingerprint, of: relay, at: Date())
    }

    /// Returns the relays whose certificates the user trusts.
    package static func known() throws(CommandError) -> KnownRelays {
        guard let known = RelayEnvironment.knownRelays else {
            throw .failed("there is no home directory: set XDG_STATE_HOME")
        }
        return known
    }

    /// Returns whether the system's authorities vouch for the relay. A relay that cannot be reached counts so: the call
    /// that follows says why.
    private static func isSignedByAuthority(_ relay: RelayTarget) async throws -> Bool {
        // Without the key, which is not for a stranger.
        let client = RelayClient(try RelayTarget(url: relay.url, fingerprint: nil, key: nil))
        var isSigned = true
        do {
            _ = try await client.report(of: Routes.getLiveness, timeout: answerTime)
        } catch {
            isSigned = error.kind != .untrusted
        }
        await client.shutDown()
        return isSigned
    }
}
