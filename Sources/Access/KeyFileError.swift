/// Why the key file cannot be read or changed as asked.
package enum KeyFileError: Error, Equatable, CustomStringConvertible {
    case unreadable(path: String, reason: String)
    /// Others than its user may read or write it.
    case open(path: String, mode: UInt32)
    /// It belongs to neither this user nor root.
    case foreign(path: String, owner: UInt32)
    case damaged(path: String, reason: String)
    case otherVersion(path: String, version: Int)
    case unwritable(path: String, reason: String)
    case badName(String)
    case nameTaken(String)
    case unknownName(String)
    case tooMany

    package var description: String {
        switch self {
        case .unreadable(let path, let reason): "the key file \(path) cannot be read: \(reason)"
        case .open(let path, let mode):
            "the key file \(path) is open to others (mode \(String(mode, radix: 8))): chmod 600 it"
        case .foreign(let path, let owner): "the key file \(path) belongs to user \(owner): chown it"
        case .damaged(let path, let reason):
            "the key file \(path) is damaged: \(reason). Put a copy back, or move it away and make all keys anew"
        case .otherVersion(let path, let version):
            "the key file \(path) is of version \(version), not \(KeyRing.currentVersion): use the release that wrote it, or move it away and make all keys anew"
        case .unwritable(let path, let reason): "the key file \(path) cannot be written: \(reason)"
        case .badName(let name): "\(name) is no name of a key; allowed: 1 to 64 letters, digits, - and _"
        case .nameTaken(let name): "there is a key \(name) already: revoke it first, or choose another name"
        case .unknownName(let name): "there is no key \(name)"
        case .tooMany: "there are \(KeyRing.maximumCount) keys already: revoke one first"
        }
    }
}
