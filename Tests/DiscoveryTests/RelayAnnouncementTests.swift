import Discovery
import TestSupport
import Testing

@Suite("What a relay announces")
struct RelayAnnouncementTests {
    private static let fingerprint = Array(repeating: "AB", count: 32).joined(separator: ":")
    private static let announcement = RelayAnnouncement(
        id: "0123456789abcdef",
        fingerprint: fingerprint,
        release: "1.2.0",
        requiresPairing: true
    )

    private static func read(_ strings: [String]) -> RelayAnnouncement? {
        RelayAnnouncement(record: strings.map { Array($0.utf8) })
    }

    @Test("is read as it was written, also with keys of later releases and in another order")
    func roundTrip() {
        #expect(Self.read(Self.announcement.record) == Self.announcement)
        #expect(Self.read(["wall=2", "flag"] + Self.announcement.record.reversed()) == Self.announcement)
        #expect(Self.announcement.record.allSatisfy { $0.utf8.count <= 255 })
        var open = Self.announcement
        open.requiresPairing = false
        #expect(Self.read(open.record) == open)
        #expect(Self.read(open.record.filter { !$0.hasPrefix("pair=") }) == open, "as former releases announce")
    }

    @Test("counts once if a key comes again")
    func again() {
        #expect(Self.read(Self.announcement.record + ["id=other", "v=9"]) == Self.announcement)
    }

    @Test("is not believed without a key, of another version, or with what a terminal would act on")
    func refused() {
        for place in Self.announcement.record.indices.dropLast() {
            var record = Self.announcement.record
            record.remove(at: place)
            #expect(Self.read(record) == nil, "\(record)")
        }
        for wrong in [
            "txtvers=2", "id=", "id=\(String(repeating: "a", count: 65))", "fp=AB\u{1B}[2J", "v=1 2", "v=é",
            "fp=AB:CD", "fp=\(Self.fingerprint):AB", "fp=\(Self.fingerprint.dropLast())g", "v=",
        ] {
            let key = wrong.prefix { $0 != "=" }
            let record = Self.announcement.record.map { $0.hasPrefix("\(key)=") ? wrong : $0 }
            #expect(Self.read(record) == nil, "\(wrong)")
        }
    }

    @Test("can be any bytes in any network")
    func hostile() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<10_000 {
            let record = (0..<Int.random(in: 0...8, using: &generator)).map { _ in
                (0..<Int.random(in: 0...40, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator)
                }
            }
            #expect(RelayAnnouncement(record: record) == nil)
        }
    }
}
