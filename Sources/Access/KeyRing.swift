package import FoundationEssentials
import Program

/// The API keys that there are, as the key file holds them. No key can be had from it.
package struct KeyRing: Sendable, Equatable, Codable {
    /// One key.
    package struct Entry: Sendable, Hashable, Codable {
        /// What people call it: 1 to 64 letters, digits, `-` and `_`.
        package let name: String
        package let role: Role
        package let sha256: KeyDigest
        package let created: Date

        package init(name: String, role: Role, sha256: KeyDigest, created: Date) {
            self.name = name
            self.role = role
            self.sha256 = sha256
            self.created = created
        }
    }

    package static let currentVersion = 1
    /// Most keys. A check looks at each.
    package static let maximumCount = 1000

    package let version: Int
    package private(set) var keys: [Entry]

    package init() {
        version = Self.currentVersion
        keys = []
    }

    /// Adds a new key and returns it: it is never to be had again.
    package mutating func make(_ name: String, role: Role, at time: Date) throws(KeyFileError) -> APIKey {
        guard name.isName else { throw .badName(name) }
        guard !keys.contains(where: { $0.name == name }) else { throw .nameTaken(name) }
        guard keys.count < Self.maximumCount else { throw .tooMany }
        let key = APIKey.random()
        keys.append(Entry(name: name, role: role, sha256: KeyDigest(of: key), created: time))
        return key
    }

    package mutating func revoke(_ name: String) throws(KeyFileError) {
        guard let place = keys.firstIndex(where: { $0.name == name }) else { throw .unknownName(name) }
        keys.remove(at: place)
    }

    /// The entry that `key` is of. All are compared, and each to its end, so that the time it takes tells nothing about any of them.
    package func entry(of key: APIKey) -> Entry? {
        let digest = KeyDigest(of: key)
        var found: Entry?
        for entry in keys where entry.sha256.matches(digest) { found = entry }
        return found
    }

    /// What is wrong with one that was read, nil for nothing.
    var fault: String? {
        if keys.count > Self.maximumCount { return "there are more than \(Self.maximumCount) keys" }
        if let entry = keys.first(where: { !$0.name.isName }) { return "\(entry.name) is no name of a key" }
        if Set(keys.map(\.name)).count < keys.count { return "a name stands twice" }
        if Set(keys.map(\.sha256)).count < keys.count { return "a key stands twice" }
        return nil
    }
}

/// What the holder of an API key may do. A role may all that the ones before it may.
package enum Role: String, Sendable, Codable, CaseIterable, Comparable {
    /// Look and watch.
    case viewer
    /// Change things, too.
    case `operator`

    package static func < (left: Role, right: Role) -> Bool {
        left == .viewer && right == .operator
    }
}
