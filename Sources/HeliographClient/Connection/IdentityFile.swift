import Access
import Files
import Program
package import SystemPackage

/// The file of this user's own identity: the private key and its certificate in PEM, readable by nobody else.
package struct IdentityFile: Sendable {
    /// The largest file, in bytes.
    private static let maximumSize = 64 << 10
    /// The permissions that it must not have.
    private static let foreignPermissions: FilePermissions = [.groupReadWriteExecute, .otherReadWriteExecute]
    /// What begins the certificate, after the key.
    private static let beginning = "-----BEGIN CERTIFICATE-----"

    package let file: FilePath

    package init(file: FilePath) { self.file = file }

    /// Returns that of this user: `$XDG_STATE_HOME/heliograph/client.pem`; `nil` without a home.
    package static func usual(in environment: [String: String]) -> IdentityFile? {
        StateFolder.path(in: environment).map { IdentityFile(file: FilePath($0).appending("client.pem")) }
    }

    /// Returns the identity; `nil` if there is none.
    ///
    /// - Throws: ``RelayError`` if the file cannot be read, is damaged, or others may read it.
    package func read() throws(RelayError) -> ClientIdentity? {
        let text: String
        do {
            let bytes = try BoundedFile.read(file, atMost: Self.maximumSize, without: Self.foreignPermissions)
            text = String(decoding: bytes, as: UTF8.self)
        } catch is BoundedFile.Exposed {
            throw fault("others may read it: chmod 600 it")
        } catch Errno.noSuchFileOrDirectory {
            return nil
        } catch {
            throw fault("cannot read it: \(error)")
        }
        guard let place = text.firstRange(of: Self.beginning) else {
            throw fault("it is damaged. Move it away, and pair again")
        }
        return try ClientIdentity(
            certificate: String(text[place.lowerBound...]),
            key: String(text[..<place.lowerBound])
        )
    }

    /// Returns the identity. If there is none, it makes one.
    ///
    /// - Parameter name: What the certificate of a new one says it is for.
    /// - Throws: ``RelayError``
    package func readOrMake(named name: String) throws(RelayError) -> ClientIdentity {
        if let identity = try read() { return identity }
        do {
            let lock = try ReplacedFile.lockFolder(of: file)
            defer { try? lock.close() }
            // Another program may have made one meanwhile.
            if let identity = try read() { return identity }
            let identity = try ClientIdentity.make(named: name)
            try ReplacedFile.write(Array((identity.key + identity.certificate).utf8), to: file)
            return identity
        } catch let error as RelayError {
            throw error
        } catch {
            throw fault("cannot write it: \(error)")
        }
    }

    private func fault(_ reason: String) -> RelayError {
        RelayError(.badArgument, "the file of this user's identity, \(file): \(reason)")
    }
}
