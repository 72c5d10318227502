import Files
import FoundationEssentials
import Glibc
import Program
import SystemPackage

/// The file with the hashed API keys: JSON, accessible to its owner only.
package struct KeyFile: Sendable {
    /// The largest file, in bytes: enough for the most keys with the most devices.
    private static let maximumSize = 8 << 20
    /// The permissions of all users except the owner.
    private static let othersMode: mode_t = 0o077

    package let path: String

    package init(path: String) { self.path = path }

    /// Returns the default path, `$XDG_STATE_HOME/heliograph/keys.json`, or `nil` without a home.
    package static func usualPath(in environment: [String: String]) -> String? {
        StateFolder.path(in: environment).map(usualPath(inDirectory:))
    }

    /// Returns its path in a state directory.
    package static func usualPath(inDirectory directory: String) -> String { directory + "/keys.json" }

    /// Reads the keys; returns `nil` if there is no file.
    package func read() throws(KeyFileError) -> KeyRing? {
        let bytes: [UInt8]
        do {
            let file = try SystemPackage.FileDescriptor.open(FilePath(path), .readOnly)
            bytes = try file.closeAfter {
                var status = Glibc.stat()
                guard fstat(file.rawValue, &status) == 0 else { throw Errno(rawValue: errno) }
                guard status.st_mode & S_IFMT == S_IFREG else { throw Errno.invalidArgument }
                guard status.st_mode & Self.othersMode == 0 else {
                    throw KeyFileError.open(path: path, mode: status.st_mode & 0o777)
                }
                guard status.st_uid == geteuid() || status.st_uid == 0 || geteuid() == 0 else {
                    throw KeyFileError.foreign(path: path, owner: status.st_uid)
                }
                return try BoundedFile.read(file, atMost: Self.maximumSize)
            }
        } catch let error as KeyFileError {
            throw error
        } catch Errno.noSuchFileOrDirectory {
            return nil
        } catch {
            throw .unreadable(path: path, reason: "\(error)")
        }
        return try decode(bytes)
    }

    /// Changes the keys and replaces the file in one step. Only one program at a time can do this.
    ///
    /// If root runs this, the file keeps its owner. A new file belongs to the owner of its folder.
    @discardableResult
    package func change<Result>(_ body: (inout KeyRing) throws(KeyFileError) -> Result) throws(KeyFileError) -> Result {
        let lock: SystemPackage.FileDescriptor
        do {
            lock = try ReplacedFile.lockFolder(of: FilePath(path))
        } catch {
            throw .unwritable(path: path, reason: "\(error)")
        }
        defer { try? lock.close() }
        var ring = try read() ?? KeyRing()
        let result = try body(&ring)
        do {
            try write(ring, folder: lock)
        } catch {
            throw .unwritable(path: path, reason: "\(error)")
        }
        return result
    }

    private func decode(_ bytes: [UInt8]) throws(KeyFileError) -> KeyRing {
        struct Version: Decodable {
            var version: Int
        }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let ring: KeyRing
        do {
            let version = try decoder.decode(Version.self, from: Data(bytes)).version
            guard KeyRing.knownVersions.contains(version) else {
                throw KeyFileError.otherVersion(path: path, version: version)
            }
            ring = try decoder.decode(KeyRing.self, from: Data(bytes))
        } catch let error as KeyFileError {
            throw error
        } catch {
            throw .damaged(path: path, reason: "\(error)")
        }
        if let fault = ring.fault { throw .damaged(path: path, reason: fault) }
        return ring
    }

    private func write(_ ring: KeyRing, folder: SystemPackage.FileDescriptor) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        encoder.dateEncodingStrategy = .iso8601
        let bytes = try encoder.encode(ring) + Data("\n".utf8)
        var owner = Glibc.stat()
        if stat(path, &owner) != 0 {
            guard fstat(folder.rawValue, &owner) == 0 else { throw Errno(rawValue: errno) }
        }
        try ReplacedFile.write(Array(bytes), to: FilePath(path)) { file in
            guard geteuid() == 0, owner.st_uid != 0 else { return }
            guard fchown(file.rawValue, owner.st_uid, owner.st_gid) == 0 else { throw Errno(rawValue: errno) }
        }
    }
}

/// The reason why the key file cannot be read or changed as requested.
package enum KeyFileError: Error, Equatable, CustomStringConvertible {
    /// There is no place for keys.
    case noFile
    case unreadable(path: String, reason: String)
    /// Users other than its owner may read or write it.
    case open(path: String, mode: UInt32)
    /// It belongs neither to this user nor to root.
    case foreign(path: String, owner: UInt32)
    case damaged(path: String, reason: String)
    case otherVersion(path: String, version: Int)
    case unwritable(path: String, reason: String)
    case badName(String)
    case nameTaken(String)
    case unknownName(String)
    case tooMany
    case badDevice(String)
    case badDeviceCount

    package var description: String {
        switch self {
        case .noFile: "the relay has no key file: name one in the setting keysFile"
        case .unreadable(let path, let reason): "the key file \(path) cannot be read: \(reason)"
        case .open(let path, let mode):
            "the key file \(path) is open to others (mode \(String(mode, radix: 8))): chmod 600 it"
        case .foreign(let path, let owner): "the key file \(path) belongs to user \(owner): chown it"
        case .damaged(let path, let reason):
            "the key file \(path) is damaged: \(reason). Restore a copy, or move it away and make new keys"
        case .otherVersion(let path, let version):
            "the key file \(path) has version \(version); this release reads \(KeyRing.knownVersions.lowerBound) and \(KeyRing.knownVersions.upperBound). Use the release that wrote it, or move it away and make new keys"
        case .unwritable(let path, let reason): "the key file \(path) cannot be written: \(reason)"
        case .badName(let name): "\(name) is not a key's name; allowed: \(String.nameRule)"
        case .nameTaken(let name): "there is a key \(name) already: revoke it first, or choose another name"
        case .unknownName(let name): "there is no key \(name)"
        case .tooMany: "there are \(KeyRing.maximumCount) keys already: revoke one first"
        case .badDevice(let name): "\(name) is not a device's name; allowed: \(String.nameRule)"
        case .badDeviceCount: "a key has 1 to \(KeyRing.maximumDevices) devices, or all if it names none"
        }
    }
}
