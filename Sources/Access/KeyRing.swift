package import FoundationEssentials
import Program

/// The API keys in the key file. The keys themselves cannot be restored from it.
package struct KeyRing: Sendable, Equatable, Codable {
    /// A stored key.
    package struct Entry: Sendable, Hashable, Codable {
        /// The key's name: 1 to 64 letters, digits, `-` and `_`.
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
    /// The most keys, because each check compares with all of them.
    package static let maximumCount = 1000

    package let version: Int
    package private(set) var keys: [Entry]

    package init() {
        version = Self.currentVersion
        keys = []
    }

    /// Adds a new key and returns it. It is shown only once.
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

    /// Returns the entry of `key`. All entries are compared completely, so that the time reveals nothing about them.
    package func entry(of key: APIKey) -> Entry? {
        let digest = KeyDigest(of: key)
        var found: Entry?
        for entry in keys where entry.sha256.matches(digest) { found = entry }
        return found
    }

    /// What is wrong with an entry that was read; `nil` for nothing.
    var fault: String? {
        if keys.count > Self.maximumCount { return "there are more than \(Self.maximumCount) keys" }
        if let entry = keys.first(where: { !$0.name.isName }) { return "\(entry.name) is not a key's name" }
        if Set(keys.map(\.name)).count < keys.count { return "two keys have the same name" }
        if Set(keys.map(\.sha256)).count < keys.count { return "a key is listed twice" }
        return nil
    }
}

/// What the holder of an API key may do. Each role includes the rights of the roles before it.
package enum Role: String, Sendable, Codable, CaseIterable, Comparable {
    /// May look and watch.
    case viewer
    /// May also act on screens: move the pointer, press keys.
    case controller
    /// May also make changes.
    case `operator`

    /// Its place among the roles, from the fewest rights.
    private var rank: Int {
        switch self {
        case .viewer: 0
        case .controller: 1
        case .operator: 2
        }
    }

    package static func < (left: Role, right: Role) -> Bool { left.rank < right.rank }
}
