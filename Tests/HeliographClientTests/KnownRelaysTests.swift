import Access
import Foundation
import HeliographClient
import TestSupport
import Testing

@Suite("Relays whose certificates a user trusts")
struct KnownRelaysTests {
    private let scratch: Scratch
    private let known: KnownRelays
    private let time = Date(timeIntervalSince1970: 1_750_000_000)

    init() throws {
        scratch = try Scratch()
        known = try #require(KnownRelays.usual(in: ["XDG_STATE_HOME": scratch.file("state").path]))
    }

    private func relay(_ url: String) throws -> RelayTarget { try RelayTarget(url: url, fingerprint: nil, key: nil) }

    private func fingerprint(_ byte: String) throws -> Fingerprint {
        try #require(Fingerprint(String(repeating: byte, count: 32)))
    }

    @Test("are known by host and port, whatever the path and the letters' case")
    func origins() throws {
        try known.add(fingerprint("ab"), of: relay("https://Wall"), at: time)
        try known.add(fingerprint("cd"), of: relay("https://[::1]:8420/farm/"), at: time)
        #expect(try known.entry(of: relay("https://wall:443/farm"))?.fingerprint == fingerprint("ab").text)
        #expect(try known.entry(of: relay("https://[::1]:8420"))?.fingerprint == fingerprint("cd").text)
        for other in ["https://wall:8420", "https://wall.example", "http://wall:443", "https://[::1]"] {
            #expect(try known.entry(of: relay(other)) == nil, "\(other)")
        }
        #expect(try known.entries().map(\.relay) == ["https://[::1]:8420", "https://wall:443"])
        #expect(try known.entries().allSatisfy { $0.since == time })
    }

    @Test("have one certificate until they are removed")
    func replaced() throws {
        let wall = try relay("https://wall:8420")
        try known.add(fingerprint("ab"), of: wall, at: time)
        try known.add(fingerprint("ab"), of: wall, at: time + 60)
        let error = try #require(throws: RelayError.self) { try known.add(fingerprint("cd"), of: wall, at: time) }
        #expect(error.kind == .untrusted && error.description.contains("https://wall:8420"), "\(error)")
        #expect(try known.entries().map(\.since) == [time])
        #expect(try known.remove(wall))
        #expect(try !known.remove(wall))
        try known.add(fingerprint("cd"), of: wall, at: time)
        #expect(try known.entry(of: wall)?.fingerprint == fingerprint("cd").text)
        let plain = try #require(throws: RelayError.self) {
            try known.add(fingerprint("ab"), of: relay("http://wall"), at: time)
        }
        #expect(plain.kind == .badArgument)
    }

    @Test("move to another address with their certificate, and only with that")
    func moved() throws {
        let (wall, other) = (try relay("https://wall:8420"), try relay("https://192.168.1.20:8420"))
        try known.add(fingerprint("ab"), of: wall, at: time, pairedAs: "laptop")
        let wrong = try #require(throws: RelayError.self) {
            try known.move(wall, to: other, showing: fingerprint("cd"))
        }
        #expect(wrong.kind == .untrusted)
        try known.move(wall, to: other, showing: fingerprint("ab"))
        let entries = try known.entries()
        #expect(entries.map(\.relay) == ["https://192.168.1.20:8420"] && entries.first?.pairedAs == "laptop")
        #expect(entries.first?.since == time)
        let unknown = try #require(throws: RelayError.self) {
            try known.move(wall, to: other, showing: fingerprint("ab"))
        }
        #expect(unknown.kind == .badArgument)
        try known.add(fingerprint("cd"), of: wall, at: time)
        let taken = try #require(throws: RelayError.self) {
            try known.move(other, to: wall, showing: fingerprint("ab"))
        }
        #expect(try taken.kind == .untrusted && known.entries().count == 2)
    }

    @Test("are not read from a file that is damaged, of another release, or that others may change")
    func refused() throws {
        let entry = #"{"relay":"https://wall:443","fingerprint":"FP","since":"2026-01-02T03:04:05Z"}"#
        let file = scratch.file("state/heliograph/relays.json").path
        try known.add(fingerprint("ab"), of: relay("https://wall"), at: time)
        for content in [
            "", "[]", #"{"version":1}"#, #"{"version":2,"relays":[]}"#,
            #"{"version":1,"relays":[\#(entry.replacingOccurrences(of: "FP", with: "abc"))]}"#,
            String(repeating: " ", count: 2 << 20),
        ] {
            try Data(content.utf8).write(to: URL(fileURLWithPath: file))
            let error = try #require(throws: RelayError.self) { _ = try known.entries() }
            #expect(error.description.contains(file), "\(error)")
            // A file that cannot be read is not written over.
            #expect(throws: RelayError.self) { try known.add(fingerprint("cd"), of: relay("https://other"), at: time) }
        }
        let right = entry.replacingOccurrences(of: "FP", with: try fingerprint("ab").text)
        try Data(#"{"version":1,"relays":[\#(right)]}"#.utf8).write(to: URL(fileURLWithPath: file))
        #expect(try known.entries().count == 1)
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: file)
        let error = try #require(throws: RelayError.self) { _ = try known.entries() }
        #expect(error.description.contains("chmod go-w"), "\(error)")
    }
}
