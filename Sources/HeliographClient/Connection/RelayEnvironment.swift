package import Access
import FoundationEssentials
import SystemPackage

/// What the environment says about the relay to call.
package enum RelayEnvironment {
    package static let urlKey = "HELIOGRAPH_RELAY"
    package static let keyFileKey = "HELIOGRAPH_KEY_FILE"
    package static let defaultURL = "http://127.0.0.1:8420"

    /// Most bytes that are read of a key's file.
    private static let longestKeyFile = 4096
    /// The permissions of all others than the user.
    private static let othersPermissions: FilePermissions = [.groupReadWriteExecute, .otherReadWriteExecute]

    private static var variables: [String: String] { ProcessInfo.processInfo.environment }

    /// The relay's address; `nil` if the environment names none.
    package static var url: String? { variables[urlKey] }

    /// Returns the fingerprint that the environment says to trust. It is for whichever relays have TLS.
    package static func variableFingerprint(for url: String) -> String? {
        url.hasPrefix("https://") ? variables[Fingerprint.environmentKey] : nil
    }

    /// Returns a relay, which must have the certificate that the environment says to trust, or else the user has chosen
    /// to trust.
    ///
    /// - Parameter fingerprint: A person's text, which goes before both.
    /// - Throws: ``RelayError`` if an argument is wrong, or the key would be sent in clear text.
    package static func target(
        url: String,
        fingerprint: String? = nil,
        key: APIKey?
    ) throws(RelayError) -> RelayTarget {
        try known(RelayTarget(url: url, fingerprint: fingerprint ?? variableFingerprint(for: url), key: key))
    }

    /// Returns the same relay. If none is demanded yet, it must have the certificate that the user has chosen to trust.
    /// If the user has paired with it, it is shown the user's own.
    ///
    /// - Throws: ``RelayError`` if the file of trusted relays, or that of the user's identity, cannot be read.
    package static func known(_ target: RelayTarget) throws(RelayError) -> RelayTarget {
        guard target.pinned == nil || target.key == nil else { return target }
        guard let entry = try knownRelays?.entry(of: target), let fingerprint = Fingerprint(entry.fingerprint) else {
            return target
        }
        let known = target.pinned == nil ? target.pinned(to: fingerprint) : target
        // The user's own certificate is for the relay that the user has paired with, and no other.
        guard entry.pairedAs != nil, known.pinned == fingerprint else { return known }
        return known.showing(try identityFile?.read())
    }

    /// The file of the user's own identity; `nil` if there is no home.
    package static var identityFile: IdentityFile? { IdentityFile.usual(in: variables) }

    /// The relays whose certificates the user has chosen to trust; `nil` if there is no home.
    package static var knownRelays: KnownRelays? { KnownRelays.usual(in: variables) }

    /// Returns the key to show; `nil` if there is none, because the relay may not need one.
    ///
    /// - Throws: ``RelayError`` if it is not a key, or others can read its file.
    package static func key() throws(RelayError) -> APIKey? {
        if let text = variables[APIKey.environmentKey] { return try key(text, from: APIKey.environmentKey) }
        return try variables[keyFileKey].map(key(at:))
    }

    /// Reads the key in a file.
    package static func key(at path: String) throws(RelayError) -> APIKey { try key(text(at: path), from: path) }

    private static func key(_ text: String, from source: String) throws(RelayError) -> APIKey {
        let lines = text.split { $0.isWhitespace }
        guard lines.count == 1, let key = lines.first.flatMap({ APIKey($0) }) else {
            throw RelayError(.badArgument, "there is no key in \(source)")
        }
        return key
    }

    private static func text(at path: String) throws(RelayError) -> String {
        do {
            guard try FilePath(path).stat().permissions.isDisjoint(with: othersPermissions) else {
                throw RelayError(.badArgument, "the key file \(path) is open to others: chmod 600 it")
            }
            let file = try SystemPackage.FileDescriptor.open(FilePath(path), .readOnly)
            var bytes = [UInt8](repeating: 0, count: longestKeyFile)
            let count = try file.closeAfter { try bytes.withUnsafeMutableBytes { try file.read(into: $0) } }
            return String(decoding: bytes.prefix(count), as: UTF8.self)
        } catch let error as RelayError {
            throw error
        } catch {
            throw RelayError(.badArgument, "cannot read the key file \(path): \(error)")
        }
    }
}
