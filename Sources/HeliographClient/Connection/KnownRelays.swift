package import Access
import Files
package import FoundationEssentials
import Program
package import SystemPackage

/// The relays whose certificates this user has chosen to trust, kept in a file: JSON, which nobody else may change.
package struct KnownRelays: Sendable {
    /// A relay and its certificate.
    package struct Entry: Sendable, Hashable, Codable {
        /// `https://host:port`.
        package let relay: String
        /// 32 pairs of hexadecimal digits with colons between them.
        package let fingerprint: String
        /// When the user chose to trust it.
        package let since: Date
        /// What the relay calls this client, which has paired with it; `nil` if it has not.
        package let pairedAs: String?
    }

    /// What is in the file.
    private struct Content: Codable {
        var version = KnownRelays.version
        var relays: [Entry] = []
    }

    private static let version = 1
    /// The most relays.
    package static let maximumCount = 1000
    /// The largest file, in bytes: enough for the most relays with the longest names.
    private static let maximumSize = 1 << 20
    /// The permissions that nobody else may have.
    private static let foreignPermissions: FilePermissions = [.groupWrite, .otherWrite]

    package let file: FilePath

    package init(file: FilePath) { self.file = file }

    /// Returns that of this user: `$XDG_STATE_HOME/heliograph/relays.json`; `nil` without a home.
    package static func usual(in environment: [String: String]) -> KnownRelays? {
        StateFolder.path(in: environment).map { KnownRelays(file: FilePath($0).appending("relays.json")) }
    }

    /// Returns the relays, by their addresses.
    ///
    /// - Throws: ``RelayError`` if the file cannot be read, is damaged, or others may change it.
    package func entries() throws(RelayError) -> [Entry] {
        do {
            let bytes = try BoundedFile.read(file, atMost: Self.maximumSize, without: Self.foreignPermissions)
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            let content = try decoder.decode(Content.self, from: Data(bytes))
            guard content.version == Self.version else { throw fault("another release wrote it. Move it away") }
            guard content.relays.count <= Self.maximumCount,
                content.relays.allSatisfy({ Fingerprint($0.fingerprint) != nil })
            else { throw fault("it is damaged. Move it away, and trust the relays again") }
            return content.relays
        } catch let error as RelayError {
            throw error
        } catch is BoundedFile.Exposed {
            throw fault("others may change it: chmod go-w it")
        } catch Errno.noSuchFileOrDirectory {
            return []
        } catch let error as Errno {
            throw fault("cannot read it: \(error)")
        } catch {
            throw fault("it is damaged. Move it away, and trust the relays again")
        }
    }

    /// Returns the entry of a relay; `nil` if there is none.
    package func entry(of relay: RelayTarget) throws(RelayError) -> Entry? {
        guard relay.isSecure, let origin = relay.origin else { return nil }
        return try entries().first { $0.relay == origin }
    }

    /// Trusts a certificate of a relay from now on.
    ///
    /// - Parameter name: What the relay calls this client, if it has just paired.
    /// - Throws: ``RelayError`` if another certificate of the relay is trusted, or the file cannot be written.
    package func add(
        _ fingerprint: Fingerprint,
        of relay: RelayTarget,
        at time: Date,
        pairedAs name: String? = nil
    ) throws(RelayError) {
        guard let origin = relay.origin, relay.isSecure else {
            throw RelayError(.badArgument, "\(relay.url) has no certificate: it does not begin with https://")
        }
        try change { relays throws(RelayError) in
            let place = relays.firstIndex { $0.relay == origin }
            if let place {
                let known = relays[place]
                guard Fingerprint(known.fingerprint) == fingerprint else {
                    throw RelayError(
                        .untrusted,
                        "another certificate of \(origin) has been trusted since \(known.since.formatted(.iso8601)): if the "
                            + "relay's was replaced, remove it first"
                    )
                }
                guard name != nil else { return }
                relays.remove(at: place)
            }
            guard relays.count < Self.maximumCount else { throw fault("it has \(Self.maximumCount) relays already") }
            relays.append(Entry(relay: origin, fingerprint: fingerprint.text, since: time, pairedAs: name))
            relays.sort { $0.relay < $1.relay }
        }
    }

    /// Trusts a relay's certificate no longer.
    ///
    /// - Returns: Whether it was trusted.
    package func remove(_ relay: RelayTarget) throws(RelayError) -> Bool {
        guard try entry(of: relay) != nil else { return false }
        try change { relays throws(RelayError) in relays.removeAll { $0.relay == relay.origin } }
        return true
    }

    /// Trusts a relay at another address instead.
    ///
    /// - Parameter shown: The certificate that it shows there.
    /// - Throws: ``RelayError`` if it is not trusted, or by another certificate, or another one is trusted there.
    package func move(
        _ relay: RelayTarget,
        to other: RelayTarget,
        showing shown: Fingerprint
    ) throws(RelayError) {
        guard let origin = other.origin, other.isSecure else {
            throw RelayError(.badArgument, "\(other.url) has no certificate: it does not begin with https://")
        }
        try change { relays throws(RelayError) in
            guard let place = relays.firstIndex(where: { $0.relay == relay.origin }) else {
                throw RelayError(.badArgument, "no certificate of \(relay.url) is trusted")
            }
            let known = relays[place]
            guard Fingerprint(known.fingerprint) == shown else {
                throw RelayError(.untrusted, "\(other.url) shows another certificate: \(shown.text)")
            }
            let there = relays.first { $0.relay == origin }
            guard there.map({ Fingerprint($0.fingerprint) == shown }) ?? true else {
                throw RelayError(
                    .untrusted,
                    "another certificate of \(origin) is trusted: if the relay's was replaced, remove it first"
                )
            }
            relays.removeAll { $0.relay == relay.origin || $0.relay == origin }
            let name = known.pairedAs ?? there?.pairedAs
            relays.append(Entry(relay: origin, fingerprint: known.fingerprint, since: known.since, pairedAs: name))
            relays.sort { $0.relay < $1.relay }
        }
    }

    /// Changes the file. One program at a time does so.
    private func change(_ body: (inout [Entry]) throws(RelayError) -> Void) throws(RelayError) {
        do {
            let lock = try ReplacedFile.lockFolder(of: file)
            defer { try? lock.close() }
            var content = Content(relays: try entries())
            try body(&content.relays)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
            encoder.dateEncodingStrategy = .iso8601
            try ReplacedFile.write(Array(encoder.encode(content) + Data("\n".utf8)), to: file)
        } catch let error as RelayError {
            throw error
        } catch {
            throw fault("cannot write it: \(error)")
        }
    }

    private func fault(_ reason: String) -> RelayError {
        RelayError(.badArgument, "the file of trusted relays, \(file): \(reason)")
    }
}
