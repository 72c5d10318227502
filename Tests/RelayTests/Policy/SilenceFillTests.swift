import Media
import Relay
import Testing
import Wire

@Suite("Silence in containers")
struct SilenceFillTests {
    private static func header(_ pts: Int64, _ flags: UnitFlags = .key) -> UnitHeader {
        UnitHeader(
            track: 1,
            pts: pts,
            captured: 0,
            encodeStart: 0,
            encodeEnd: 0,
            flags: flags,
            size: PictureSize(width: 0, height: 0)
        )
    }

    @Test("is filled up to shortly before the picture")
    func fills() {
        var fill = SilenceFill(.opus)
        #expect(fill.times(before: 1_000_000).isEmpty)
        #expect(fill.times(before: 1_040_000).isEmpty)
        #expect(fill.times(before: 1_080_000) == [1_000_000])
        #expect(fill.times(before: 1_200_000) == [1_020_000, 1_040_000, 1_060_000, 1_080_000, 1_100_000, 1_120_000])
    }

    @Test("ends where sound begins, and begins where it is told")
    func sound() {
        var fill = SilenceFill(.opus)
        _ = fill.times(before: 0)
        #expect(fill.times(before: Self.header(50_000), lasting: 960) == [0, 20_000])
        // Sound may be a little late.
        #expect(fill.times(before: 400_000).isEmpty)
        #expect(fill.times(before: Self.header(70_000), lasting: 960) == [])
        #expect(fill.times(before: Self.header(90_000, [.key, .silence]), lasting: 960) == [])
        #expect(fill.times(before: 190_000) == [110_000])
    }

    @Test("replaces sound that does not come, and what comes then is too late")
    func lost() {
        var fill = SilenceFill(.opus)
        _ = fill.times(before: 0)
        _ = fill.times(before: Self.header(0), lasting: 960)
        #expect(fill.times(before: 1_019_000).isEmpty)
        #expect(fill.times(before: 1_040_000) == [20_000])
        #expect(fill.times(before: Self.header(20_000), lasting: 960) == nil)
        #expect(fill.times(before: Self.header(40_000), lasting: 960) == [])
    }

    @Test("waits for long packets")
    func longPackets() {
        var fill = SilenceFill(.opus)
        _ = fill.times(before: 0)
        _ = fill.times(before: Self.header(0, [.key, .silence]), lasting: 2880)
        #expect(fill.times(before: 170_000).isEmpty)
        #expect(fill.times(before: 180_000) == [60_000])
    }

    @Test("never fills more than 10 s at once")
    func long() {
        var fill = SilenceFill(.opus)
        _ = fill.times(before: 0)
        #expect(fill.times(before: 3_600_000_000).count == 500)
    }

    @Test("of AAC is in packets of 1,024 samples, whose times do not drift")
    func aac() {
        var fill = SilenceFill(.aac)
        _ = fill.times(before: 0)
        // A packet, two that the encoder looks ahead, and 40 ms.
        #expect(fill.times(before: 104_000).isEmpty)
        let times = (1...300).flatMap { fill.times(before: 104_000 + Int64($0) * 33_333) }
        #expect(times == (0..<Int64(times.count)).map { $0 * 64_000 / 3 } && times.count == 468)
        let next = Int64(times.count) * 64_000 / 3
        #expect(fill.times(before: Self.header(next + 21_334), lasting: 1024) == [next])
        #expect(fill.times(before: Self.header(next + 42_667), lasting: 1024) == [])
    }

    @Test("keeps the count of packets right for players that get no times")
    func counted() {
        var fill = SilenceFill(.aac, isCounted: true)
        _ = fill.times(before: 0)
        var (written, pts): (Int64, Int64) = (0, 0)
        for round in 0..<200 {
            // Sound that begins anywhere.
            pts += 30_000 + Int64(round * 7919 % 21_333)
            let silence = fill.times(before: Self.header(pts), lasting: 1024)
            #expect(silence != nil)
            written += Int64(silence?.count ?? 0) + 1
            pts += 21_333
            #expect(abs(written * 64_000 / 3 - pts) <= 10_700)
        }
    }

    @Test("is a packet of 20 ms")
    func packet() {
        #expect(OpusPacket.silence.read { OpusPacket($0) }?.duration == 960)
    }
}
