import Media
import TestSupport
import Testing
import Wire

@Suite("Figures that heartbeats have carried")
struct HeartbeatDeltaTests {
    private static func heartbeat(_ counts: [SessionID: UInt64]) -> Heartbeat {
        Heartbeat(
            clock: 0,
            framesReceived: 0,
            buffersSkipped: 0,
            framesCopied: 0,
            linkQueuedBytes: 0,
            sessions: counts.sorted { $0.key < $1.key }.map { id, count in
                var counters = SessionCounters()
                counters.received = count
                return SessionFigures(session: id, encoder: "x264", size: nil, counters: counters, linkDrops: 0)
            }
        )
    }

    @Test("unchanged sessions are sent by id, and sessions that are gone are not sent")
    func shortens() {
        var told = HeartbeatDelta()
        #expect(told.shortened(Self.heartbeat([1: 5, 2: 5])) == Self.heartbeat([1: 5, 2: 5]))
        var short = told.shortened(Self.heartbeat([1: 5, 2: 6, 3: 0]))
        #expect(short.sessions == Self.heartbeat([2: 6, 3: 0]).sessions)
        #expect(short.unchanged == [1])
        short = told.shortened(Self.heartbeat([3: 0]))
        #expect(short.sessions.isEmpty)
        #expect(short.unchanged == [3])
        // It was not sent in between.
        #expect(told.shortened(Self.heartbeat([2: 6, 3: 0])).sessions == Self.heartbeat([2: 6]).sessions)
    }

    @Test("the other end has them all, whatever changes, comes and goes", arguments: 0..<20 as Range<UInt64>)
    func roundTrips(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var (sender, receiver) = (HeartbeatDelta(), HeartbeatDelta())
        var counts: [SessionID: UInt64] = [:]
        for _ in 0..<50 {
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                let id = SessionID.random(in: 1...6, using: &generator)
                counts[id] = Bool.random(using: &generator) ? (counts[id] ?? 0) + 1 : nil
            }
            let heartbeat = Self.heartbeat(counts)
            #expect(receiver.completed(sender.shortened(heartbeat)) == heartbeat)
        }
    }

    @Test("of an agent with more sessions than a device may have, only that many count")
    func tooMany() {
        var told = HeartbeatDelta()
        for first in [1, 2001, 4001] as [SessionID] {
            let ids = first..<(first + 1500)
            var heartbeat = Self.heartbeat(Dictionary(uniqueKeysWithValues: ids.map { ($0, 1) }))
            heartbeat.unchanged = Array(1...SessionID(5000))
            #expect(told.completed(heartbeat).sessions.count == 1000)
        }
    }

    @Test("sessions called unchanged that were never sent do not count, and duplicates count once")
    func hostile() {
        var told = HeartbeatDelta()
        var heartbeat = Self.heartbeat([1: 5])
        heartbeat.sessions += heartbeat.sessions
        heartbeat.unchanged = [1, 2, 2]
        #expect(told.completed(heartbeat) == Self.heartbeat([1: 5]))
        heartbeat.sessions = []
        #expect(told.completed(heartbeat) == Self.heartbeat([1: 5]))
    }
}
