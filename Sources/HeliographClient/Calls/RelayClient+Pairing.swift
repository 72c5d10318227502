import Access
public import FoundationEssentials
import HeliographAPI
import NIOPosix

extension RelayClient {
    /// Pairs with a relay whose operator has armed a PIN (`heliograph pair --arm`), so that both recognize each other's
    /// certificates from then on.
    ///
    ///     let identity = try ClientIdentity.make(named: "nightly-tests")
    ///     let paired = try await RelayClient.pair("https://wall:8420", pin: "482913", as: "nightly-tests", identity)
    ///     let relay = try RelayClient(
    ///         "https://wall:8420",
    ///         trust: .pinned(paired.fingerprint),
    ///         identity: identity
    ///     )
    ///
    /// The PIN is good for one guess. The client never sends it, and an attacker in between cannot find it out:
    /// SPAKE2 (RFC 9382), bound to both certificates.
    ///
    /// - Parameters:
    ///   - url: The relay's address, with `https://`. Proxies and tunnels in front of it show another certificate, so
    ///     one cannot pair through them.
    ///   - pin: The digits; spaces and hyphens do not count.
    ///   - name: What the relay's lists and log will call the client: 1 to 64 letters, digits, `-` and `_`.
    ///   - identity: The certificate that the relay will know the client by, and its key.
    ///   - trust: If the relay's certificate is known already, the only one to pair with. Nothing else needs to vouch
    ///     for it.
    /// - Throws: ``RelayError``: with the code `wrong_pin` if the PIN is wrong, and of the kind `untrusted` if the
    ///   relay has not proved that it knows it. The PIN must not be used again after that.
    public static func pair(
        _ url: String,
        pin: String,
        as name: String,
        _ identity: ClientIdentity,
        trust: Trust = .authorities
    ) async throws(RelayError) -> PairedRelay {
        guard let pin = PairingPIN(pin) else {
            throw RelayError(
                .badArgument,
                "a PIN has \(PairingPIN.lengths.lowerBound) to \(PairingPIN.lengths.upperBound) digits"
            )
        }
        let shown =
            if let pinned = trust.fingerprint { pinned } else { try await CertificateFingerprint.shown(by: url) }
        let target = try RelayTarget(url: url, fingerprint: shown.description, key: nil).showing(identity)
        let client = RelayClient(target)
        defer { client.close() }
        let answer = try await client.pair(pin, as: name, identity.fingerprint.fingerprint, with: shown.fingerprint)
        return PairedRelay(
            fingerprint: shown,
            name: answer.name,
            role: answer.role,
            expires: answer.expires.flatMap { try? Date($0, strategy: .iso8601) }
        )
    }

    private func pair(
        _ pin: PairingPIN,
        as name: String,
        _ own: Fingerprint,
        with relay: Fingerprint
    ) async throws(RelayError) -> PairedClient {
        // On another thread, because it computes.
        let exchange = try? await NIOThreadPool.singleton.runIfActive {
            pin.exchange(as: .a, client: own, relay: relay)
        }
        guard let exchange else { throw RelayError(.badArgument, "there is too little memory to pair") }
        var share = PairingShare()
        (share.name, share.share) = (name, Hexadecimal.text(of: exchange.share))
        let theirs = try await report(of: Routes.sharePairing, share).share
        guard let confirmations = Hexadecimal.bytes(in: theirs).flatMap(exchange.confirmations(with:)) else {
            throw RelayError(.notUnderstood, "the relay at \(url) does not pair as a relay of this release does")
        }
        var proof = PairingProof()
        proof.proof = Hexadecimal.text(of: confirmations.own)
        let doubt: String
        do throws(RelayError) {
            let paired = try await report(of: Routes.provePairing, proof)
            if Hexadecimal.bytes(in: paired.proof).map(confirmations.confirm) == true { return paired }
            doubt = "it does not know the PIN itself"
        } catch {
            if error.problem == .wrongPIN { throw error }
            doubt = "\(error)"
        }
        // An attacker in between could have tested one guess. It must not get another one.
        throw RelayError(
            .untrusted,
            "the relay at \(url) may not be the one that you want to pair with: \(doubt). Do not type this PIN again: have "
                + "another one armed"
        )
    }
}

/// A relay that a client has paired with.
public struct PairedRelay: Sendable, Hashable {
    /// The relay's certificate, to be pinned by ``Trust/pinned(_:)``.
    public let fingerprint: CertificateFingerprint
    /// What the relay calls the client.
    public let name: String
    /// What the client may do: `viewer`, `controller` or `operator`.
    public let role: String
    /// When it must pair again; `nil` for never.
    public let expires: Date?
}
