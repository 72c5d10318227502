import Access
import Files
import FoundationEssentials
import SystemPackage

/// The two files of an identity.
struct TLSFiles: Sendable, Equatable {
    /// Longest file, bytes.
    private static let maximumSize = 1 << 20

    let certificate: String
    let key: String

    /// Finds the files. Returns `nil` if nothing is encrypted.
    ///
    /// - Parameter directory: The folder for an identity that the relay makes.
    init?(_ settings: TLSSettings, directory: String?) throws(RelayStartError) {
        switch settings {
        case .none: return nil
        case .files(let certificate, let key):
            self.certificate = certificate
            self.key = key
        case .selfSigned:
            guard let directory else { throw .noStateDirectory }
            certificate = directory + "/tls-certificate.pem"
            key = directory + "/tls-key.pem"
        }
    }

    var paths: [String] { [certificate, key] }

    func identity() throws(RelayStartError) -> TLSIdentity {
        let key = try read(key, isSecret: true)
        let certificate = try read(certificate, isSecret: false)
        do {
            return try TLSIdentity(certificates: certificate, key: key)
        } catch {
            throw .certificate(path: self.certificate, reason: "\(error)")
        }
    }

    /// Whether the identity is missing, or incomplete.
    var isMissing: Bool { paths.map(FileStamp.init(path:)).contains(nil) }

    /// Creates an identity unless there is one.
    func makeIfMissing(host: String) throws(RelayStartError) {
        guard isMissing else { return }
        do {
            let lock = try ReplacedFile.lockFolder(of: FilePath(key))
            defer { try? lock.close() }
            // Another relay of the same user may have created one meanwhile.
            guard isMissing else { return }
            let made = try SelfSignedCertificate(for: .server(host: host), now: Date())
            // One file without the other comes from an interrupted start, so both are replaced.
            try ReplacedFile.write(Array(made.key.utf8), to: FilePath(key))
            let readable: FilePermissions = [.ownerReadWrite, .groupRead, .otherRead]
            try ReplacedFile.write(Array(made.certificate.utf8), to: FilePath(certificate), permissions: readable)
        } catch {
            throw .certificate(path: key, reason: "\(error)")
        }
    }

    private func read(_ path: String, isSecret: Bool) throws(RelayStartError) -> [UInt8] {
        do {
            return try BoundedFile.read(FilePath(path), atMost: Self.maximumSize, isSecret: isSecret)
        } catch let error as BoundedFile.Exposed {
            throw .certificate(path: path, reason: "\(error)")
        } catch {
            throw .certificateUnreadable(path: path, reason: "\(error)")
        }
    }
}
