package import FoundationEssentials
import Program

/// The API keys and the paired clients in the key file. The keys themselves cannot be restored from it.
package struct KeyRing: Sendable, Equatable, Codable {
    /// What the holder of an entry proves to have.
    package enum Proof: Sendable, Hashable {
        /// The API key with this hash.
        case key(KeyDigest)
        /// The private key of the certificate with this fingerprint. Its holder has paired.
        case certificate(Fingerprint)

        /// 32 bytes that no other entry has.
        package var bytes: [UInt8] {
            switch self {
            case .key(let digest): digest.bytes
            case .certificate(let fingerprint): fingerprint.bytes
            }
        }
    }

    /// What a holder may do, and for how long.
    package struct Terms: Sendable, Hashable {
        package var role: Role
        /// The names of the devices that it is for, 1 to ``KeyRing/maximumDevices``; `nil` for all devices.
        package var devices: Set<String>?
        /// The rights that replace those of the role, maybe none; `nil` for those of the role.
        package var library: Set<LibraryRight>?
        /// When it ends; `nil` for never.
        package var expires: Date?

        package init(
            _ role: Role,
            devices: Set<String>? = nil,
            library: Set<LibraryRight>? = nil,
            expires: Date? = nil
        ) {
            (self.role, self.devices, self.library, self.expires) = (role, devices, library, expires)
        }

        /// Returns when it ends that lasts for some days; `nil` for ever.
        package static func end(afterDays days: Int?, from time: Date) -> Date? {
            days.map { time.addingTimeInterval(86_400 * Double($0)) }
        }
    }

    /// A stored key, or a paired client.
    package struct Entry: Sendable, Hashable, Codable {
        /// Its name: 1 to 64 letters, digits, `-` and `_`.
        package let name: String
        package let role: Role
        /// The names of the devices that the key is for, 1 to ``KeyRing/maximumDevices``; `nil` for all devices.
        package let devices: [String]?
        /// The rights that replace those of the role, maybe none; `nil` for those of the role.
        package let library: [LibraryRight]?
        package let proof: Proof
        package let created: Date
        /// When it ends; `nil` for never.
        package let expires: Date?

        /// What the key's holder may do in the library.
        package var libraryRights: Set<LibraryRight> { library.map { Set($0) } ?? role.libraryRights }

        /// Whether the key is for this device.
        package func reaches(_ device: String) -> Bool { devices?.contains(device) ?? true }

        /// Whether its time is over.
        package func isExpired(at time: Date) -> Bool { expires.map { $0 <= time } ?? false }

        /// Whether its holder has paired, and shows a certificate.
        package var isPaired: Bool { if case .certificate = proof { true } else { false } }

        /// The first version of the file whose releases give the holder no more than it has.
        fileprivate var version: Int {
            if isPaired || expires != nil { return 3 }
            return devices != nil || library != nil ? 2 : 1
        }

        fileprivate init(_ name: String, _ terms: Terms, _ proof: Proof, at time: Date) {
            (self.name, self.proof, created) = (name, proof, time)
            (role, expires) = (terms.role, terms.expires)
            (devices, library) = (terms.devices?.sorted(), terms.library?.inOrder)
        }

        private enum CodingKeys: CodingKey { case name, role, devices, library, sha256, certificate, created, expires }

        package init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            role = try container.decode(Role.self, forKey: .role)
            devices = try container.decodeIfPresent([String].self, forKey: .devices)
            library = try container.decodeIfPresent([LibraryRight].self, forKey: .library)
            created = try container.decode(Date.self, forKey: .created)
            expires = try container.decodeIfPresent(Date.self, forKey: .expires)
            guard let text = try container.decodeIfPresent(String.self, forKey: .certificate) else {
                proof = .key(try container.decode(KeyDigest.self, forKey: .sha256))
                return
            }
            guard let fingerprint = Fingerprint(text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .certificate,
                    in: container,
                    debugDescription: "a fingerprint has 64 hexadecimal digits"
                )
            }
            proof = .certificate(fingerprint)
        }

        package func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encode(role, forKey: .role)
            try container.encodeIfPresent(devices, forKey: .devices)
            try container.encodeIfPresent(library, forKey: .library)
            switch proof {
            case .key(let digest): try container.encode(digest, forKey: .sha256)
            case .certificate(let fingerprint): try container.encode(fingerprint.text, forKey: .certificate)
            }
            try container.encode(created, forKey: .created)
            try container.encodeIfPresent(expires, forKey: .expires)
        }

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
    package static let knownVersions = 1...3
    /// The most keys and paired clients, because each check compares with all of them.
    package static let maximumCount = 1000
    /// The most devices of one key.
    package static let maximumDevices = 64

    package private(set) var keys: [Entry]

    /// The version of the file that holds these keys: 2 if a key has devices or library rights of its own, 3 if one
    /// expires or a client has paired, else 1.
    ///
    /// Releases that do not know a version would ignore such limits, and give too much. They refuse it.
    package var version: Int { keys.lazy.map(\.version).max() ?? 1 }

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
    package mutating func make(_ name: String, _ terms: Terms, at time: Date) throws(KeyFileError) -> APIKey {
        guard !keys.contains(where: { $0.name == name }) else { throw .nameTaken(name) }
        let key = APIKey.random()
        try add(Entry(name, terms, .key(KeyDigest(of: key)), at: time))
        return key
    }

    /// Adds a client that has paired, and returns its entry.
    ///
    /// A client that has paired before gets new terms. If another one has its name, a number is added.
    package mutating func pair(
        _ certificate: Fingerprint,
        named name: String,
        _ terms: Terms,
        at time: Date
    ) throws(KeyFileError) -> Entry {
        var others = self
        others.keys.removeAll { $0.proof == .certificate(certificate) }
        let names = Set(others.keys.map(\.name))
        let free = (2...Self.maximumCount &+ 1).lazy.map { "\(name.prefix(59))-\($0)" }.first { !names.contains($0) }
        let entry = Entry(names.contains(name) ? free ?? name : name, terms, .certificate(certificate), at: time)
        try others.add(entry)
        self = others
        return entry
    }

    private mutating func add(_ entry: Entry) throws(KeyFileError) {
        guard entry.name.isName else { throw .badName(entry.name) }
        guard keys.count < Self.maximumCount else { throw .tooMany }
        if let device = entry.devices?.first(where: { !$0.isName }) { throw .badDevice(device) }
        guard entry.devices.map({ 1...Self.maximumDevices ~= $0.count }) ?? true else { throw .badDeviceCount }
        keys.append(entry)
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
        for entry in keys {
            if case .key(let other) = entry.proof, other.matches(digest) { found = entry }
        }
        return found
    }

    /// Returns the entry of the client with this certificate.
    package func entry(of certificate: Fingerprint) -> Entry? {
        keys.first { $0.proof == .certificate(certificate) }
    }

    /// What is wrong with an entry that was read; `nil` for nothing.
    var fault: String? {
        if keys.count > Self.maximumCount { return "there are more than \(Self.maximumCount) keys" }
        if let fault = keys.lazy.compactMap(\.fault).first { return fault }
        if Set(keys.map(\.name)).count < keys.count { return "two keys have the same name" }
        if Set(keys.map(\.proof)).count < keys.count { return "a key is listed twice" }
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
