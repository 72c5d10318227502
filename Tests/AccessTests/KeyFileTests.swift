import Access
import Files
import Foundation
import TestSupport
import Testing

/// Parts of key files.
private enum Sample {
    static func digest(_ digit: Int) -> String { String(repeating: "\(digit)", count: 64) }

    static func entry(_ name: String, _ digit: Int) -> String {
        #"{"name":"\#(name)","role":"viewer","sha256":"\#(digest(digit))","created":"2026-01-01T00:00:00Z"}"#
    }

    /// A file of version 2 with one key that has further members.
    static func file(with members: String) -> String {
        let entry = entry("ci", 0).replacing("{", with: "{\(members),")
        return "{\"version\":2,\"keys\":[\(entry)]}"
    }
}

@Suite("The key file")
struct KeyFileTests {
    private let scratch: Scratch
    private let file: KeyFile

    init() throws {
        scratch = try Scratch()
        file = KeyFile(path: scratch.file("state/keys.json").path)
    }

    private var stamp: FileStamp? { FileStamp(path: file.path) }

    private func permissions() throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    }

    @Test("keeps entries until they are revoked, and never the key itself")
    func makeAndRevoke() throws {
        #expect(try file.read() == nil)
        #expect(stamp == nil)
        let made = Date(timeIntervalSince1970: 1_700_000_000)
        let key = try file.change { ring throws(KeyFileError) in try ring.make("ci", KeyRing.Terms(.operator), at: made)
        }
        let other = try file.change { ring throws(KeyFileError) in
            try ring.make("wall", KeyRing.Terms(.viewer), at: made)
        }
        #expect(try permissions() == 0o600)
        let text = try String(contentsOfFile: file.path, encoding: .utf8)
        for key in [key, other] {
            #expect(key.text.hasPrefix("hgk_") && key.text.utf8.count == 68)
            #expect(!text.contains(key.text) && !text.contains(key.text.dropFirst(4)))
        }
        let ring = try #require(try file.read())
        #expect(ring.keys.map(\.name) == ["ci", "wall"])
        #expect(ring.entry(of: key)?.role == .operator)
        #expect(ring.entry(of: key)?.created == made)
        #expect(ring.entry(of: other)?.name == "wall")
        #expect(ring.entry(of: APIKey.random()) == nil)
        let before = stamp
        try file.change { ring throws(KeyFileError) in try ring.revoke("ci") }
        #expect(stamp != before)
        #expect(try file.read()?.entry(of: key) == nil)
        #expect(try file.read()?.keys.map(\.name) == ["wall"])
        let left = try FileManager.default.contentsOfDirectory(atPath: scratch.file("state").path)
        #expect(left == ["keys.json"], "nothing is left beside it")
    }

    @Test("a key is the SHA-256 of its text")
    func digest() throws {
        // FIPS 180-4, example of one block.
        let digest = KeyDigest(of: try #require(APIKey("abc")))
        #expect(
            Hexadecimal.text(of: digest.bytes) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
        #expect(digest.matches(digest))
        #expect(!digest.matches(KeyDigest(of: APIKey.random())))
    }

    @Test("names are names, once each")
    func names() throws {
        try file.change { ring throws(KeyFileError) in _ = try ring.make("ci", KeyRing.Terms(.viewer), at: Date()) }
        let before = stamp
        for name in ["", "a b", "a/b", String(repeating: "x", count: 65)] {
            #expect(throws: KeyFileError.badName(name)) {
                try file.change { ring throws(KeyFileError) in
                    _ = try ring.make(name, KeyRing.Terms(.viewer), at: Date())
                }
            }
        }
        #expect(throws: KeyFileError.nameTaken("ci")) {
            try file.change { ring throws(KeyFileError) in _ = try ring.make("ci", KeyRing.Terms(.operator), at: Date())
            }
        }
        #expect(throws: KeyFileError.unknownName("tv")) {
            try file.change { ring throws(KeyFileError) in try ring.revoke("tv") }
        }
        #expect(stamp == before, "a change that is refused writes nothing")
    }

    @Test("that others may read is refused", arguments: [0o640, 0o604, 0o660, 0o622])
    func open(mode: Int) throws {
        try file.change { ring throws(KeyFileError) in _ = try ring.make("ci", KeyRing.Terms(.viewer), at: Date()) }
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        #expect(throws: KeyFileError.open(path: file.path, mode: UInt32(mode))) { try file.read() }
    }

    @Test(
        "that is damaged is refused",
        arguments: [
            "", "{", "{}", #"{"version":4,"keys":[]}"#, #"{"version":0,"keys":[]}"#,
            #"{"version":1,"keys":[{"name":"ci"}]}"#,
            #"{"version":1,"keys":[{"name":"ci","role":"king","sha256":"00","created":"2026-01-01T00:00:00Z"}]}"#,
            #"{"version":1,"keys":[{"name":"c i","role":"viewer","sha256":"\#(Sample.digest(0))","created":"2026-01-01T00:00:00Z"}]}"#,
            "{\"version\":1,\"keys\":[\(Sample.entry("a", 0)),\(Sample.entry("a", 1))]}",
            "{\"version\":1,\"keys\":[\(Sample.entry("a", 0)),\(Sample.entry("b", 0))]}",
            Sample.file(with: #""devices":[]"#), Sample.file(with: #""devices":["a b"]"#),
            Sample.file(with: #""devices":"left""#),
            Sample.file(with: "\"devices\":[\((0..<65).map { "\"d\($0)\"" }.joined(separator: ","))]"),
            Sample.file(with: #""library":["watch"]"#), Sample.file(with: #""library":"look""#),
        ]
    )
    func damaged(text: String) throws {
        let url = try scratch.write(Array(text.utf8), to: "keys.json")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
        #expect(throws: KeyFileError.self) { try KeyFile(path: url.path).read() }
    }

    private func write(_ text: String) throws {
        try FileManager.default.createDirectory(
            at: URL(fileURLWithPath: file.path).deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try text.write(toFile: file.path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }

    /// The version that the file says it has.
    private func writtenVersion() throws -> Int? {
        let text = try Data(contentsOf: URL(fileURLWithPath: file.path))
        return (try JSONSerialization.jsonObject(with: text) as? [String: Any])?["version"] as? Int
    }

    @Test("keeps the devices and the rights of keys, in a version that former releases refuse")
    func limits() throws {
        let key = try file.change { ring throws(KeyFileError) in
            _ = try ring.make("plain", KeyRing.Terms(.operator), at: Date())
            let terms = KeyRing.Terms(.viewer, devices: ["right", "left"], library: [.delete, .look])
            return try ring.make("cut", terms, at: Date())
        }
        #expect(try writtenVersion() == 2)
        var ring = try #require(try file.read())
        let entry = try #require(ring.entry(of: key))
        #expect(entry.devices == ["left", "right"] && entry.library == [.look, .delete])
        #expect(entry.reaches("left") && entry.reaches("right") && !entry.reaches("default"))
        #expect(ring.keys[0].devices == nil && ring.keys[0].library == nil && ring.keys[0].reaches("anything"))
        try file.change { ring throws(KeyFileError) in
            try ring.revoke("cut")
            _ = try ring.make("no", KeyRing.Terms(.operator, library: []), at: Date())
        }
        #expect(try writtenVersion() == 2)
        ring = try #require(try file.read())
        #expect(ring.keys[1].library == [] && ring.keys[1].libraryRights.isEmpty)
        try file.change { ring throws(KeyFileError) in try ring.revoke("no") }
        #expect(try writtenVersion() == 1, "without such a key former releases can read it")
    }

    @Test("of version 1 is read, and one of version 2 without limits is written as version 1")
    func versions() throws {
        for version in [1, 2] {
            try write("{\"version\":\(version),\"keys\":[\(Sample.entry("a", 0))]}")
            #expect(try file.read()?.keys.map(\.libraryRights) == [[.look]])
        }
        try file.change { ring throws(KeyFileError) in _ = try ring.make("b", KeyRing.Terms(.viewer), at: Date()) }
        #expect(try writtenVersion() == 1)
        try write(#"{"version":4,"keys":[]}"#)
        #expect(throws: KeyFileError.otherVersion(path: file.path, version: 4)) { try file.read() }
    }

    @Test("keeps clients that have paired and when keys end, in a version that former releases refuse")
    func pairedAndExpiring() throws {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let one = Fingerprint(ofCertificate: [1])
        let other = Fingerprint(ofCertificate: [2])
        try file.change { ring throws(KeyFileError) in
            _ = try ring.make("brief", KeyRing.Terms(.viewer, expires: now + 10), at: now)
        }
        #expect(try writtenVersion() == 3)
        try file.change { ring throws(KeyFileError) in
            let entries = [
                try ring.pair(one, named: "laptop", KeyRing.Terms(.viewer, devices: ["left"]), at: now),
                try ring.pair(other, named: "laptop", KeyRing.Terms(.operator), at: now),
                try ring.pair(one, named: "laptop", KeyRing.Terms(.controller, expires: now), at: now),
            ]
            #expect(entries.map(\.name) == ["laptop", "laptop-2", "laptop"])
        }
        let ring = try #require(try file.read())
        #expect(ring.keys.map { $0.isExpired(at: now) } == [false, false, true])
        #expect(ring.keys[0].isExpired(at: now + 10))
        let entry = try #require(ring.entry(of: one))
        #expect(entry.role == .controller && entry.devices == nil && entry.isPaired && entry.expires == now)
        #expect(ring.entry(of: other)?.role == .operator && ring.entry(of: Fingerprint(ofCertificate: [3])) == nil)
        try file.change { ring throws(KeyFileError) in
            for name in ["brief", "laptop", "laptop-2"] { try ring.revoke(name) }
        }
        #expect(try writtenVersion() == 1)
    }

    @Test("a client whose name is as long as it may be gets a number, too")
    func longNames() throws {
        var ring = KeyRing()
        let name = String(repeating: "x", count: 64)
        for byte in 0..<12 as Range<UInt8> {
            let entry = try ring.pair(
                Fingerprint(ofCertificate: [byte]),
                named: name,
                KeyRing.Terms(.viewer),
                at: Date()
            )
            #expect(entry.name.utf8.count <= 64)
        }
        #expect(Set(ring.keys.map(\.name)).count == 12)
    }

    @Test("has room for the most keys with the most devices")
    func largest() throws {
        let devices = Set((0..<KeyRing.maximumDevices).map { "\($0)" + String(repeating: "x", count: 62) })
        try file.change { ring throws(KeyFileError) in
            for number in 0..<KeyRing.maximumCount {
                let terms = KeyRing.Terms(.operator, devices: devices, library: Set(LibraryRight.allCases))
                _ = try ring.make("\(number)" + String(repeating: "x", count: 60), terms, at: Date())
            }
        }
        #expect(try file.read()?.keys.count == KeyRing.maximumCount)
    }

    @Test("takes 1 to 64 names of devices for a key")
    func devices() throws {
        func make(_ devices: Set<String>) throws {
            try file.change { ring throws(KeyFileError) in
                _ = try ring.make("x", KeyRing.Terms(.viewer, devices: devices), at: Date())
            }
        }
        for name in ["", "a b", "left,right", "*"] {
            #expect(throws: KeyFileError.badDevice(name)) { try make(["left", name]) }
        }
        for count in [0, 65] {
            #expect(throws: KeyFileError.badDeviceCount) { try make(Set((0..<count).map { "d\($0)" })) }
        }
        #expect(try file.read() == nil)
    }

    @Test("an inaccessible one is not treated as missing")
    func unreachable() throws {
        let loop = scratch.file("loop").path
        try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
        let file = KeyFile(path: loop + "/keys.json")
        #expect(FileStamp(path: file.path) != nil)
        #expect(throws: KeyFileError.self) { try file.read() }
        #expect(FileStamp(path: scratch.file("keys.json").path) == nil)
    }

    @Test(
        "made by root is of the user in whose folder its folders are made",
        .enabled(if: geteuid() == 0, "only root can make files for others")
    )
    func ownFolders() throws {
        let home = scratch.file(".").path
        try #require(chown(home, 4711, 4712) == 0)
        let file = KeyFile(path: scratch.file("a/b/keys.json").path)
        try file.change { ring throws(KeyFileError) in _ = try ring.make("ci", KeyRing.Terms(.viewer), at: Date()) }
        for path in ["a", "a/b", "a/b/keys.json"] {
            var status = stat()
            try #require(stat(scratch.file(path).path, &status) == 0)
            #expect(status.st_uid == 4711 && status.st_gid == 4712, "\(path)")
            #expect(status.st_mode & 0o777 == (path.hasSuffix("json") ? 0o600 : 0o700), "\(path)")
        }
    }

    @Test("a path that is not a file is refused at once")
    func noFile() throws {
        #expect(throws: KeyFileError.self) { try KeyFile(path: scratch.file(".").path).read() }
    }
}

@Suite("Keys and roles")
struct KeyTests {
    @Test(
        "what cannot be a key is none",
        arguments: ["", " ", "a b", "a\n", "schlüssel", String(repeating: "x", count: 257)]
    )
    func noKeys(text: String) {
        #expect(APIKey(text) == nil)
    }

    @Test("an operator may do what a controller may, and that what a viewer may")
    func roles() {
        #expect(Role.allCases == Role.allCases.sorted() && Role.viewer < .controller && Role.controller < .operator)
        #expect(!(Role.operator < .viewer) && !(Role.viewer < .viewer))
    }

    @Test("rights in the library are the role's, unless the key has its own")
    func libraryRights() throws {
        var ring = KeyRing()
        for role in Role.allCases { _ = try ring.make("\(role)", KeyRing.Terms(role), at: Date()) }
        _ = try ring.make("more", KeyRing.Terms(.viewer, library: [.delete]), at: Date())
        _ = try ring.make("less", KeyRing.Terms(.operator, library: [.look]), at: Date())
        #expect(
            ring.keys.map(\.libraryRights) == [[.look], [.look], [.look, .record, .delete], [.delete], [.look]]
        )
    }

    @Test("rights are written as words with commas between them")
    func rightsAsText() throws {
        for (text, rights) in [
            ("none", []), ("look", [.look]), ("look,record,delete", Set(LibraryRight.allCases)),
        ] as [(String, Set<LibraryRight>)] {
            #expect(try Set(text: text) == rights && rights.text == text)
        }
        #expect(try Set(text: "delete,look").text == "look,delete")
        for (text, word) in [
            ("", ""), ("look,", ""), ("look, record", " record"), ("Look", "Look"), ("look,none", "none"),
        ] {
            #expect(throws: UnknownLibraryRight(word: word)) { try Set<LibraryRight>(text: text) }
        }
    }

    @Test("a key is not printed")
    func description() {
        let key = APIKey.random()
        #expect("\(key)" == "an API key")
    }

    @Test("hexadecimal digits", arguments: ["0", "0g", "é0", "00 ", " 00"])
    func noDigits(text: String) {
        #expect(Hexadecimal.bytes(in: text) == nil)
        #expect(Hexadecimal.bytes(in: "00fFA9") == [0, 0xFF, 0xA9])
    }
}
