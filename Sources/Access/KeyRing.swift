package import FoundationEssentials
import Program

/// The API keys in the key file. The keys themselves cannot be restored from it.
package struct KeyRing: Sendable, Equatable, Codable {
    /// A stored key.
    package struct Entry: Sendable, Hashable, Codable {
        /// The key's name: 1 to 64 letters, digits, `-` and `_`.
        package let name: String
        package let role: Role
        /// The names of the devices that the key is for, 1 to ``KeyRing/maximumDevices``; `nil` for all devices.
        package let devices: [String]?
        /// The rights that replace those of the role, maybe none; `nil` for those of the role.
        package let library: [LibraryRight]?
        package let sha256: KeyDigest
        package let created: Date

        /// What the key's holder may do in the library.
        package var libraryRights: Set<LibraryRight> { library.map { Set($0) } ?? role.libraryRights }

        /// Whether the key is for this device.
        package func reaches(_ device: String) -> Bool { devices?.contains(device) ?? true }

        /// Whether a relay that knows only roles would give the key's holder more than it has.
        fileprivate var isLimited: Bool { devices != nil || library != nil }

        /// What is wrong with an entry that was read; `nil` for nothing.
        fileprivate var fault: String? {
            if !name.isName { return "\(name) is not a key's name" }
            guard let devices else { return nil }
            if let device = devices.first(where: { !$0.isName }) {
                return "\(device), of the key \(name), is not a device's name"
            }
            guard 1...KeyRing.maximumDevices ~= devices.count else {
                return "the key \(name) has \(devices.count) devices; allowed: 1 to \(KeyRing.maximumDevices)"
            }
            return nil
        }
    }

    /// The versions of the file that can be read.
    package static let knownVersions = 1...2
    /// The most keys, because each check compares with all of them.
    package static let maximumCount = 1000
    /// The most devices of one key.
    package static let maximumDevices = 64

    package private(set) var keys: [Entry]

    /// The version of the file that holds these keys: 2 if a key has devices or library rights of its own, else 1.
    ///
    /// Releases that know only version 1 would ignore both, and give such keys too much. They refuse version 2.
    package var version: Int { keys.contains(where: \.isLimited) ? 2 : 1 }

    package init() { keys = [] }

    private enum CodingKeys: CodingKey { case version, keys }

    package init(from decoder: any Decoder) throws {
        keys = try decoder.container(keyedBy: CodingKeys.self).decode([Entry].self, forKey: .keys)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(version, forKey: .version)
        try container.encode(keys, forKey: .keys)
    }

    /// Adds a new key and returns it. It is shown only once.
    ///
    /// - Parameters:
    ///   - devices: The devices that it is for, 1 to ``maximumDevices``; `nil` for all.
    ///   - library: The rights that replace the role's; `nil` for the role's.
    package mutating func make(
        _ name: String,
        role: Role,
        devices: Set<String>? = nil,
        library: Set<LibraryRight>? = nil,
        at time: Date
    ) throws(KeyFileError) -> APIKey {
        guard name.isName else { throw .badName(name) }
        guard !keys.contains(where: { $0.name == name }) else { throw .nameTaken(name) }
        guard keys.count < Self.maximumCount else { throw .tooMany }
        if let device = devices?.sorted().first(where: { !$0.isName }) { throw .badDevice(device) }
        guard devices.map({ 1...Self.maximumDevices ~= $0.count }) ?? true else { throw .badDeviceCount }
        let key = APIKey.random()
        keys.append(
            Entry(
                name: name,
                role: role,
                devices: devices?.sorted(),
                library: library?.inOrder,
                sha256: KeyDigest(of: key),
                created: time
            )
        )
        return key
    }

    /// Removes a key and returns its entry.
    @discardableResult
    package mutating func revoke(_ name: String) throws(KeyFileError) -> Entry {
        guard let place = keys.firstIndex(where: { $0.name == name }) else { throw .unknownName(name) }
        return keys.remove(at: place)
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
        if let fault = keys.lazy.compactMap(\.fault).first { return fault }
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
