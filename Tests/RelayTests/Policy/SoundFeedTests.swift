import Media
import Relay
import Testing
import Wire

@Suite("A device's agents and its sound")
struct SoundFeedTests {
    private static let track = MediaTrack(id: 1, coding: .opus(OpusParameters(channels: 2, preSkip: 0)!))
    private static let report = DeviceTracks([track])

    private static func header(_ pts: Int64, track: MediaTrack.ID = 1) -> UnitHeader {
        UnitHeader(
            track: track,
            pts: pts,
            captured: 0,
            encodeStart: 0,
            encodeEnd: 0,
            flags: .key,
            size: PictureSize(width: 0, height: 0)
        )
    }

    /// Returns a feed whose agents have both said that they have sound.
    private static func feed(isWanted: Bool = true) -> SoundFeed {
        var feed = SoundFeed()
        _ = feed.reported(.primary, report)
        _ = feed.reported(.standby, report)
        if isWanted { _ = feed.want([.opus]) }
        return feed
    }

    /// Accepts 20 ms of sound.
    private static func accept(_ feed: inout SoundFeed, _ pts: Int64, from role: AgentRole) -> UnitHeader? {
        feed.accept(header(pts), lasting: 960, from: role, now: 1_000_000)
    }

    @Test("nothing is captured until a sink wants sound, and then one agent sends")
    func demand() {
        var feed = SoundFeed()
        #expect(feed.reported(.primary, Self.report).isEmpty)
        #expect(feed.tracks == [Self.track] && feed.current == nil)
        #expect(feed.want([.opus]) == [.init(.primary, Listen(.send))])
        #expect(feed.reported(.standby, Self.report) == [.init(.standby, Listen(.ready))])
        #expect(feed.current == .primary)
        #expect(feed.want([.opus]).isEmpty)
        #expect(feed.want([]) == [.init(.primary, Listen(.off)), .init(.standby, Listen(.off))])
        #expect(Self.accept(&feed, 0, from: .primary) == nil && feed.discarded == 1)
    }

    @Test("an agent that is told to end captures only when it says so again")
    func capturing() {
        var feed = Self.feed()
        #expect(feed.reported(.primary, DeviceTracks([Self.track], captures: true)).isEmpty)
        #expect(feed.capturing == [.primary])
        _ = feed.want([])
        _ = feed.want([.opus])
        #expect(feed.capturing.isEmpty)
        _ = feed.reported(.primary, DeviceTracks([Self.track], captures: true))
        #expect(feed.capturing == [.primary])
    }

    @Test("the standby continues at the sample where the agent ended, and keeps on")
    func failOver() {
        var feed = Self.feed()
        #expect(Self.accept(&feed, 1_000_000, from: .primary)?.pts == 1_000_000)
        #expect(Self.accept(&feed, 1_000_000, from: .standby) == nil)
        #expect(
            feed.lost(.primary) == [
                .init(.standby, Listen(.send, after: [.opus: .init(from: 1_020_000, captured: 20_000_000)]))
            ]
        )
        #expect(feed.tracks == [Self.track])
        // What overlaps is left out. Nothing is lost in between.
        #expect(Self.accept(&feed, 1_010_000, from: .standby) == nil)
        #expect(Self.accept(&feed, 1_020_000, from: .standby)?.flags == .key)
        #expect(feed.switches == 1)
        // The agent that returns keeps a second, and takes over only when the standby ends.
        #expect(feed.reported(.primary, Self.report) == [.init(.primary, Listen(.ready))])
        #expect(feed.current == .standby)
        #expect(
            feed.lost(.standby) == [
                .init(.primary, Listen(.send, after: [.opus: .init(from: 1_040_000, captured: 20_000_000)]))
            ]
        )
    }

    @Test("sound that is missing is a gap, from one agent or two, but not after silence")
    func gap() {
        var feed = Self.feed()
        #expect(Self.accept(&feed, 0, from: .primary)?.flags == .key)
        #expect(Self.accept(&feed, 20_000, from: .primary)?.flags == .key)
        #expect(Self.accept(&feed, 60_000, from: .primary)?.flags == [.key, .gap])
        _ = feed.lost(.primary)
        #expect(Self.accept(&feed, 90_000, from: .standby)?.flags == [.key, .gap])
        var silence = Self.header(110_000)
        silence.flags.insert(.silence)
        #expect(feed.accept(silence, lasting: 960, from: .standby, now: 0)?.flags == [.key, .silence])
        #expect(Self.accept(&feed, 900_000, from: .standby)?.flags == .key)
    }

    @Test(
        "a time far from the clock is refused, and spoils nothing",
        arguments: [.max, .min, 1 << 62, 62_000_000, -60_000_000]
    )
    func wrongTime(pts: Int64) {
        var feed = Self.feed()
        #expect(Self.accept(&feed, pts, from: .primary) == nil && feed.discarded == 1)
        #expect(Self.accept(&feed, 1_000_000, from: .primary) != nil)
        #expect(
            feed.lost(.primary) == [
                .init(.standby, Listen(.send, after: [.opus: .init(from: 1_020_000, captured: 20_000_000)]))
            ]
        )
    }

    @Test("an agent that cannot capture leaves it to the other one")
    func problem() {
        var feed = Self.feed()
        _ = Self.accept(&feed, 0, from: .primary)
        let broken = DeviceTracks([Self.track], problem: "PipeWire is gone")
        #expect(
            feed.reported(.primary, broken) == [
                .init(.primary, Listen(.ready)),
                .init(.standby, Listen(.send, after: [.opus: .init(from: 20_000, captured: 20_000_000)])),
            ]
        )
        #expect(feed.problem == nil)
        // If none can, the last one goes on trying.
        #expect(feed.reported(.standby, broken).isEmpty && feed.problem == "PipeWire is gone")
    }

    private static let aac = MediaTrack(id: 2, coding: .aac(.stereo))

    @Test("each codec in demand is sent, and continues by itself when the agent is lost")
    func codecs() {
        var feed = SoundFeed()
        for role in AgentRole.allCases { _ = feed.reported(role, DeviceTracks([Self.track, Self.aac])) }
        #expect(
            feed.want([.opus]) == [.init(.primary, Listen(.send)), .init(.standby, Listen(.ready))]
        )
        #expect(feed.accept(Self.header(0, track: 2), lasting: 1024, from: .primary, now: 0) == nil)
        #expect(
            feed.want([.opus, .aac]) == [
                .init(.primary, Listen(.send, [.opus, .aac])), .init(.standby, Listen(.ready, [.opus, .aac])),
            ]
        )
        #expect(feed.codecs == [.opus, .aac])
        #expect(Self.accept(&feed, 0, from: .primary) != nil)
        for pts in [5000, 26_333, 47_667] as [Int64] {
            // Times are whole µs, so the third one is a third later.
            #expect(feed.accept(Self.header(pts, track: 2), lasting: 1024, from: .primary, now: 0)?.flags == .key)
        }
        let ends: [SoundCodec: Listen.End] = [
            .opus: .init(from: 20_000, captured: 20_000_000), .aac: .init(from: 69_000, captured: 21_333_000),
        ]
        #expect(feed.lost(.primary) == [.init(.standby, Listen(.send, [.opus, .aac], after: ends))])
        // A codec that nobody wants any more is forgotten.
        #expect(feed.want([.opus]) == [.init(.standby, Listen(.send))])
        #expect(feed.want([.aac]) == [.init(.standby, Listen(.send, [.aac]))])
    }

    @Test("an agent without AAC sends what it can, and says why")
    func noAAC() {
        var feed = SoundFeed()
        _ = feed.reported(.primary, DeviceTracks([Self.track, Self.aac]))
        #expect(feed.encodesAAC == nil && feed.aacProblem == nil)
        #expect(feed.want([.opus, .aac]) == [.init(.primary, Listen(.send, [.opus, .aac]))])
        var report = DeviceTracks([Self.track])
        (report.encodesAAC, report.aacProblem) = (false, "no libavcodec")
        #expect(feed.reported(.primary, report) == [.init(.primary, Listen(.send))])
        #expect(feed.encodesAAC == false && feed.aacProblem == "no libavcodec" && feed.tracks == [Self.track])
        #expect(feed.want([.aac]) == [.init(.primary, Listen(.off))])
    }

    @Test("a device whose agents have no sound has none")
    func off() {
        var feed = SoundFeed()
        _ = feed.want([.opus])
        #expect(feed.reported(.primary, DeviceTracks([])).isEmpty)
        #expect(feed.tracks.isEmpty && feed.current == nil)
    }

    @Test("the tracks are those of the agent that sends")
    func tracks() {
        let other = MediaTrack(id: 2, coding: Self.track.coding)
        var feed = Self.feed()
        _ = feed.reported(.standby, DeviceTracks([other]))
        #expect(feed.accept(Self.header(0, track: 2), lasting: 48, from: .primary, now: 0) == nil)
        _ = feed.lost(.primary)
        #expect(feed.tracks == [other])
        #expect(feed.accept(Self.header(0, track: 2), lasting: 48, from: .standby, now: 0) != nil)
    }
}
