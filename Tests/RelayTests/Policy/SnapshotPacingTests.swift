import NIOCore
import Relay
import RelayTestSupport
import Testing

/// Instants in these tests are multiples of a second plus milliseconds. So are the slots of 5 and 10 snapshots per
/// second.
@Suite("An MJPEG viewer's pace")
struct SnapshotPacingTests {
    /// Returns a viewer that has sent its first snapshot at `instant`.
    private func begun(fps: Int, at instant: NIODeadline) -> SnapshotPacing {
        var pacing = SnapshotPacing(fps: fps)
        pacing.began(now: instant)
        pacing.sent(now: instant)
        return pacing
    }

    @Test("begins at once")
    func beginning() {
        #expect(SnapshotPacing(fps: 5).next(now: at(123)) == .get(since: at(-77)))
    }

    @Test("while the screen changes is its rate, on slots that it shares with others")
    func moving() {
        for start: Int64 in [0, 50, 150, 199] {
            var pacing = begun(fps: 5, at: at(start))
            let isNews = pacing.screenChanged()
            let isNewsAgain = pacing.screenChanged()
            #expect(isNews && !isNewsAgain)
            #expect(pacing.next(now: at(start)) == .wait(until: at(200)))
            #expect(pacing.next(now: at(200)) == .get(since: at(100)))
        }
    }

    @Test("of a slow connection skips slots and has no debts")
    func slow() {
        var pacing = begun(fps: 10, at: at(0))
        _ = pacing.screenChanged()
        #expect(pacing.next(now: at(730)) == .get(since: at(680)))
        pacing.began(now: at(730))
        pacing.sent(now: at(731))
        _ = pacing.screenChanged()
        #expect(pacing.next(now: at(735)) == .wait(until: at(800)))
    }

    @Test("on a static screen is the same picture each second, and the first change ends it")
    func snapshot() {
        var pacing = begun(fps: 10, at: at(0))
        #expect(pacing.next(now: at(10)) == .wait(until: at(1000)))
        #expect(pacing.next(now: at(1000)) == .sendAgain)
        pacing.sent(now: at(1000))
        #expect(pacing.next(now: at(1001)) == .wait(until: at(2000)))
        let isNews = pacing.screenChanged()
        #expect(isNews)
        #expect(pacing.next(now: at(1500)) == .get(since: at(1450)))
    }

    @Test("counts a change that comes while a snapshot is made")
    func changesMeanwhile() {
        var pacing = begun(fps: 10, at: at(0))
        _ = pacing.screenChanged()
        pacing.began(now: at(100))
        let isNews = pacing.screenChanged()
        #expect(isNews)
        pacing.sent(now: at(120))
        #expect(pacing.next(now: at(120)) == .wait(until: at(200)))
        #expect(pacing.next(now: at(200)) == .get(since: at(150)))
    }

    @Test("after a failure is another attempt each second")
    func failing() {
        var pacing = SnapshotPacing(fps: 10)
        pacing.began(now: at(0))
        pacing.failed(now: at(5))
        _ = pacing.screenChanged()
        #expect(pacing.next(now: at(500)) == .wait(until: at(1005)))
        #expect(pacing.next(now: at(1005)) == .get(since: at(1005)))
        pacing.began(now: at(1005))
        pacing.sent(now: at(1010))
        #expect(pacing.next(now: at(1010)) == .wait(until: at(2010)))
    }
}
