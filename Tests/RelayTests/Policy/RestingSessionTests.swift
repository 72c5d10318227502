import Media
import Relay
import RelayTestSupport
import Testing
import Wire

@Suite("A session that rests")
struct RestingSessionTests {
    private static let second: UInt64 = 1_000_000_000
    private static let epoch: UInt64 = 5 * second
    /// The keyframe's slot.
    private static let start: UInt64 = 100 * second

    private static func rest(interval: UInt64 = 10 * second) -> Rest {
        let pts = Int64(start - epoch) / 1000
        return Rest(keyframe: pts, slot: start + second / 10, fps: 10, keyframeInterval: interval)
    }

    private static func session(_ rest: Rest = rest(), now: UInt64 = start) throws -> RestingSession {
        let keyframe = try StaticStream.restingKeyframe(pts: rest.keyframe)
        return try #require(
            RestingSession(rest, keyframe: keyframe, codec: .h264, epoch: epoch, now: now)
        )
    }

    /// Returns the pictures up to `end`, each at its time.
    private static func run(
        _ session: inout RestingSession,
        until end: UInt64,
        tally: inout RestTally
    ) -> [(time: UInt64, unit: AccessUnit)] {
        var made: [(UInt64, AccessUnit)] = []
        while session.nextTime <= end {
            let now = session.nextTime
            _ = session.count(to: now, tally: &tally)
            if let unit = session.next(at: now, tally: &tally) { made.append((now, unit)) }
        }
        return made
    }

    /// Returns how many pictures were counted but not made.
    private static func count(_ session: inout RestingSession, to now: UInt64, _ tally: inout RestTally) -> UInt64 {
        session.count(to: now, tally: &tally)
    }

    @Test("fills every slot half an interval late, and reports the results")
    func fillsSlots() throws {
        var (session, tally) = (try Self.session(), RestTally())
        let made = Self.run(&session, until: Self.start + Self.second, tally: &tally)
        #expect(made.map(\.unit.pts) == (1...9).map { Self.rest().keyframe + Int64($0) * 100_000 })
        #expect(made.map(\.time) == (1...9).map { Self.start + $0 * Self.second / 10 + Self.second / 20 })
        #expect(made.allSatisfy { $0.unit.flags == [.repeat, .skip] && $0.unit.keyframeRequest == 0 })
        #expect(session.rested == Rested(slots: 9, inserted: 9))
        #expect(tally.skipped == 9 && tally.keyframes == 0 && tally.missed == 0)
        #expect(tally.bytes == UInt64(made.map(\.unit.bytes.count).reduce(0, +)))
    }

    @Test("fills its slots earlier by its lead, and none before it is due")
    func lead() throws {
        for (lead, first) in [(20, 130), (50, 100), (1000, 100)] as [(UInt64, UInt64)] {
            var (session, tally) = (try Self.session(), RestTally())
            session.lead = lead * 1_000_000
            let made = Self.run(&session, until: Self.start + Self.second, tally: &tally)
            let times = (0..<9).map { Self.start + (first + $0 * 100) * 1_000_000 }
            #expect(made.map(\.time).prefix(9) == times[...])
            #expect(made.map(\.unit.pts).prefix(9) == (1...9).map { Self.rest().keyframe + Int64($0) * 100_000 }[...])
            #expect(tally.missed == 0)
        }
    }

    @Test("with a lead, too, sends a keyframe on demand only as far ahead as any n pictures leave over n - 2 intervals")
    func demandWithLead() throws {
        var (session, tally) = (try Self.session(), RestTally())
        session.lead = Self.second / 50
        // The agent's keyframe left half an interval after its slot.
        var times = [Self.start + Self.second / 20]
        times += Self.run(&session, until: Self.start + 5 * Self.second / 10 + Self.second / 20, tally: &tally).map(
            \.time
        )
        session.wantsKeyframe = true
        times += Self.run(&session, until: Self.start + 2 * Self.second, tally: &tally).map(\.time)
        #expect(tally.keyframes == 1)
        for first in times.indices {
            for last in times.indices[first...] where last - first >= 2 {
                #expect(
                    times[last] - times[first] >= UInt64(last - first - 1) * Self.second / 10,
                    "\(first) to \(last)"
                )
            }
        }
    }

    @Test("is spread out with those beside it, evenly, and makes its pictures earlier the more they are")
    func crowd() {
        var crowd = RestCrowd()
        let most: UInt64 = 16_666_666
        crowd.count = 1
        #expect(crowd.lead(of: 7, most: most) == 0 && crowd.room == 0)
        for count in [2, 10, 100, 400] as [UInt64] {
            crowd.count = count
            let greatest = min(count * 65_000, most)
            let leads = (1...count).map { crowd.lead(of: SessionID($0), most: most) }.sorted()
            #expect(leads.first! >= greatest * 3 / 8 && leads.last! <= greatest)
            // The same number in each tenth of the time, plus or minus three.
            let width = greatest * 40 / 65 / 10 + 1
            for tenth in 0..<UInt64(10) {
                let begin = greatest * 25 / 65 + tenth * width
                let within = leads.count { $0 >= begin && $0 < begin + width }
                #expect(abs(within - Int(count / 10)) <= 3, "\(count): \(within) from \(begin)")
            }
        }
    }

    @Test("sends the keyframe again, byte for byte, when its interval is over")
    func keyframes() throws {
        var (session, tally) = (try Self.session(Self.rest(interval: 2 * Self.second)), RestTally())
        let made = Self.run(&session, until: Self.start + 5 * Self.second, tally: &tally)
        let keys = made.filter { $0.unit.flags.contains(.key) }
        #expect(keys.map(\.unit.pts) == [20, 40].map { Self.rest().keyframe + $0 * 100_000 })
        let sent = try StaticStream.restingKeyframe(pts: 0).bytes
        #expect(keys.allSatisfy { $0.unit.bytes == sent })
        #expect(session.rested == Rested(slots: 49, inserted: 9, keyframe: Self.start + 4 * Self.second))
        #expect(tally.keyframes == 2 && tally.skipped == 49)
    }

    @Test(
        "sends its first keyframe earlier by its lead, and the others when their interval is over",
        arguments: [true, false]
    )
    func keyframeLead(isWatched: Bool) throws {
        var (session, tally) = (try Self.session(Self.rest(interval: 2 * Self.second)), RestTally())
        session.keyframeLead = 8 * Self.second / 10
        session.isWatched = isWatched
        let made = Self.run(&session, until: Self.start + 6 * Self.second, tally: &tally)
        let keys = made.filter { $0.unit.flags.contains(.key) }
        #expect(keys.map(\.unit.pts) == [12, 32, 52].map { Self.rest().keyframe + $0 * 100_000 })
    }

    @Test("sends its first keyframe at another time than those beside it")
    func crowdOfKeyframes() {
        let interval = 10 * Self.second
        let leads = (1...400).map { RestCrowd.keyframeLead(of: $0, interval: interval) }.sorted()
        #expect(leads.last! <= interval / 2)
        for tenth in 0..<UInt64(10) {
            let within = leads.count { $0 * 10 / (interval / 2) == tenth }
            #expect(abs(within - 40) <= 3, "\(within) in tenth \(tenth)")
        }
    }

    @Test("gives waiting viewers the keyframe at once, but not twice in half a second")
    func demand() throws {
        var (session, tally) = (try Self.session(), RestTally())
        session.wantsKeyframe = true
        let made = Self.run(&session, until: Self.start + 6 * Self.second / 10, tally: &tally)
        #expect(made.map { $0.unit.flags.contains(.key) } == [false, false, false, false, true])
        // The slot at 0.4 s was filled half an interval late, and the next picture may follow at once; times are
        // rounded up.
        let time = try #require(made.last?.time)
        #expect((0...5).contains(time - (Self.start + 45 * Self.second / 100)))
        #expect(!session.wantsKeyframe)
        #expect(session.rested == Rested(slots: 5, inserted: 0, keyframe: Self.start + Self.second / 2))
    }

    @Test("passes over slots that it is too late for")
    func late() throws {
        var (session, tally) = (try Self.session(), RestTally())
        #expect(Self.count(&session, to: Self.start + Self.second, &tally) == 0)
        let made = session.next(at: Self.start + Self.second, tally: &tally)
        // Of the slots from 0.1 to 1 s the first nine are over; the tenth is filled half an interval later.
        #expect(made == nil)
        #expect(tally.missed == 9 && tally.skipped == 0)
        #expect(session.rested == Rested(slots: 9))
        #expect(session.nextTime == Self.start + Self.second + Self.second / 20)
    }

    @Test("without viewers counts its slots, and makes the keyframe and one picture after it in each interval")
    func unwatched() throws {
        var (session, tally) = (try Self.session(Self.rest(interval: 2 * Self.second)), RestTally())
        session.isWatched = false
        let made = Self.run(&session, until: Self.start + 5 * Self.second, tally: &tally)
        #expect(made.map { ($0.unit.pts - Self.rest().keyframe) / 100_000 } == [1, 20, 21, 40, 41])
        #expect(made.map { $0.unit.flags.contains(.key) } == [false, true, false, true, false])
        // The last slots may still be filled.
        let counted = Self.count(&session, to: Self.start + 5 * Self.second, &tally)
        #expect(counted > 0)
        #expect(tally.missed == 0 && tally.keyframes == 2 && tally.skipped == 49)
        #expect(session.rested == Rested(slots: 49, inserted: 1, keyframe: Self.start + 4 * Self.second))
        #expect(tally.bytes == UInt64(made.map(\.unit.bytes.count).reduce(0, +)))

        // A viewer joins: the next picture is the keyframe, in the next slot.
        session.isWatched = true
        session.wantsKeyframe = true
        let next = session.next(at: Self.start + 5 * Self.second, tally: &tally)
        #expect(next?.flags == [.key, .repeat, .skip])
        #expect(next?.pts == Self.rest().keyframe + 5_000_000)
        #expect(session.rested.slots == 50 && session.rested.inserted == 0)
    }

    @Test(
        "without viewers makes a requested keyframe at once, at least half a second after the last one"
    )
    func unwatchedOnDemand() throws {
        var (session, tally) = (try Self.session(Self.rest(interval: 60 * Self.second)), RestTally())
        session.isWatched = false
        _ = Self.run(&session, until: Self.start + 2 * Self.second, tally: &tally)
        session.wantsKeyframe = true
        let made = Self.run(&session, until: Self.start + 4 * Self.second, tally: &tally)
        #expect(made.map { $0.unit.flags.contains(.key) } == [true, false])
        #expect(try #require(made.first).time <= Self.start + 2 * Self.second + Self.second / 10)
        session.wantsKeyframe = true
        let again = Self.run(&session, until: Self.start + 6 * Self.second, tally: &tally)
        #expect(again.contains { $0.unit.flags.contains(.key) })
        #expect(tally.missed == 0)
    }

    @Test("holds with any interval between keyframes")
    func anyInterval() throws {
        for interval in [0, UInt64.max] {
            var (session, tally) = (try Self.session(Self.rest(interval: interval)), RestTally())
            let made = Self.run(&session, until: Self.start + Self.second, tally: &tally)
            // A skip picture comes between keyframes.
            #expect(made.map { $0.unit.flags.contains(.key) } == (1...9).map { interval == 0 && $0.isMultiple(of: 2) })
        }
    }

    @Test("is refused if the stream cannot continue from the keyframe, or if the agent's message makes no sense")
    func refused() throws {
        let keyframe = try StaticStream.restingKeyframe(pts: 0)
        var stream = StaticStream()
        let predicted = try stream.beginning()[1]
        func isTaken(_ unit: AccessUnit = keyframe, _ change: (inout Rest) -> Void = { _ in }) -> Bool {
            var rest = Self.rest()
            change(&rest)
            return RestingSession(rest, keyframe: unit, codec: .h264, epoch: Self.epoch, now: Self.start) != nil
        }
        #expect(isTaken())
        #expect(!isTaken { $0.fps = 0 })
        #expect(!isTaken { $0.fps = 241 })
        #expect(!isTaken { $0.slot = 0 })
        #expect(!isTaken { $0.slot = .max })
        #expect(!isTaken(predicted))
        #expect(!isTaken(SampleStream.accessUnit(0, key: true)))
        #expect(!isTaken(StaticStream.accessUnit([], pts: 0, isKey: true)))
    }
}
