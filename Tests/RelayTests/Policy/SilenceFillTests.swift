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
        var fill = SilenceFill()
        #expect(fill.times(before: 1_000_000).isEmpty)
        #expect(fill.times(before: 1_040_000).isEmpty)
        #expect(fill.times(before: 1_080_000) == [1_000_000])
        #expect(fill.times(before: 1_200_000) == [1_020_000, 1_040_000, 1_060_000, 1_080_000, 1_100_000, 1_120_000])
    }

    @Test("ends where sound begins, and begins where it is told")
    func sound() {
        var fill = SilenceFill()
        _ = fill.times(before: 0)
        #expect(fill.times(before: Self.header(50_000), lasting: 20_000) == [0, 20_000])
        // Sound may be a little late.
        #expect(fill.times(before: 400_000).isEmpty)
        #expect(fill.times(before: Self.header(70_000), lasting: 20_000) == [])
        #expect(fill.times(before: Self.header(90_000, [.key, .silence]), lasting: 20_000) == [])
        #expect(fill.times(before: 190_000) == [110_000])
    }

    @Test("replaces sound that does not come, and what comes then is too late")
    func lost() {
        var fill = SilenceFill()
        _ = fill.times(before: 0)
        _ = fill.times(before: Self.header(0), lasting: 20_000)
        #expect(fill.times(before: 1_019_000).isEmpty)
        #expect(fill.times(before: 1_040_000) == [20_000])
        #expect(fill.times(before: Self.header(20_000), lasting: 20_000) == nil)
        #expect(fill.times(before: Self.header(40_000), lasting: 20_000) == [])
    }

    @Test("waits for long packets")
    func longPackets() {
        var fill = SilenceFill()
        _ = fill.times(before: 0)
        _ = fill.times(before: Self.header(0, [.key, .silence]), lasting: 60_000)
        #expect(fill.times(before: 170_000).isEmpty)
        #expect(fill.times(before: 180_000) == [60_000])
    }

    @Test("never fills more than 10 s at once")
    func long() {
        var fill = SilenceFill()
        _ = fill.times(before: 0)
        #expect(fill.times(before: 3_600_000_000).count == 500)
    }

    @Test("is a packet of 20 ms")
    func packet() {
        #expect(SilenceFill.packet.read { OpusPacket($0) }?.duration == 960)
    }
}
