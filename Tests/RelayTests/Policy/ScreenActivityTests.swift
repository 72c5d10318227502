import Media
import NIOCore
import Relay
import RelayTestSupport
import Testing
import Wire

@Suite("A screen's activity")
struct ScreenActivityTests {
    /// Pictures 100 ms apart, numbered from 1; frame 7 was captured at 7.
    private struct Screen {
        var activity = ScreenActivity()
        private(set) var number = 0

        @discardableResult
        mutating func shows(
            frame: UInt64,
            isRepeat: Bool = false,
            from role: AgentRole = .primary,
            isLive: Bool = true
        ) -> Bool {
            number += 1
            var unit = SampleStream.accessUnit(number, key: number == 1)
            unit.captured = frame
            if isRepeat { unit.flags.insert(.repeat) }
            let taken = MediaUnit(EncodedUnit(copying: unit), codec: .h264, from: role)
            return activity.take(taken, isLive: isLive, now: at(Int64(number) * 100))
        }

        /// Returns the picture in which a waiter from the beginning sees a change; 0 for none.
        var changed: Int64 {
            guard case .met(let moment) = activity.verdict(.changed(since: at(0), settled: .zero), now: at(10_000))
            else { return 0 }
            return moment.pts / 33_333
        }

        /// Returns the picture since which the screen has been static; 0 if that is not known.
        var staticSince: Int64 {
            guard case .met(let moment) = activity.verdict(.static(.zero, after: nil), now: at(10_000)) else {
                return 0
            }
            return moment.pts / 33_333
        }
    }

    @Test("changes with a new frame, not with a repeat nor with the first picture")
    func changes() {
        var screen = Screen()
        #expect(screen.staticSince == 0 && screen.changed == 0)
        let first = screen.shows(frame: 1)
        let second = screen.shows(frame: 1, isRepeat: true)
        #expect(first && !second)
        #expect(screen.staticSince == 1 && screen.changed == 0)
        let third = screen.shows(frame: 2)
        #expect(third && screen.staticSince == 3 && screen.changed == 3)
        screen.shows(frame: 2, isRepeat: true)
        #expect(screen.staticSince == 3 && screen.changed == 3)
        // Encoded again, for example in another size.
        screen.shows(frame: 2)
        #expect(screen.staticSince == 3 && screen.changed == 3)
    }

    @Test("changes with a new frame that a repeat shows first: its own picture was lost on the way")
    func lostPicture() {
        var screen = Screen()
        screen.shows(frame: 1)
        let isNews = screen.shows(frame: 2, isRepeat: true)
        #expect(isNews && screen.changed == 2 && screen.staticSince == 2)
        screen.shows(frame: 2, isRepeat: true)
        #expect(screen.changed == 2)
    }

    @Test("is asked of from an instant on, or about a time")
    func verdicts() {
        var screen = Screen()
        #expect(screen.activity.verdict(.static(.zero, after: nil), now: at(0)) == .open)
        screen.shows(frame: 1)
        screen.shows(frame: 2)
        let change = ScreenActivity.Moment(pts: 66_666, time: at(200))
        #expect(screen.activity.verdict(.changed(since: at(200), settled: .zero), now: at(300)) == .met(change))
        #expect(screen.activity.verdict(.changed(since: at(201), settled: .zero), now: at(300)) == .open)
        #expect(screen.activity.verdict(.changedAfter(66_665, settled: .zero), now: at(300)) == .met(change))
        #expect(screen.activity.verdict(.changedAfter(66_666, settled: .zero), now: at(300)) == .open)
        #expect(screen.activity.verdict(.static(.seconds(1), after: nil), now: at(1199)) == .due(at(1200)))
        #expect(screen.activity.verdict(.static(.seconds(1), after: nil), now: at(1200)) == .met(change))
        screen.shows(frame: 3)
        #expect(screen.activity.verdict(.static(.seconds(1), after: nil), now: at(1200)) == .due(at(1300)))
    }

    @Test("is asked whether it has changed and settled, or is static with a later picture")
    func settled() {
        var screen = Screen()
        screen.shows(frame: 1)
        screen.shows(frame: 2)
        let change = ScreenActivity.Moment(pts: 66_666, time: at(200))
        let second = TimeAmount.seconds(1)
        #expect(screen.activity.verdict(.changed(since: at(200), settled: second), now: at(1199)) == .due(at(1200)))
        #expect(screen.activity.verdict(.changed(since: at(200), settled: second), now: at(1200)) == .met(change))
        #expect(screen.activity.verdict(.changed(since: at(201), settled: second), now: at(1200)) == .open)
        #expect(screen.activity.verdict(.changedAfter(66_665, settled: second), now: at(1200)) == .met(change))
        #expect(screen.activity.verdict(.changedAfter(66_666, settled: second), now: at(1200)) == .open)
        #expect(screen.activity.verdict(.static(second, after: 66_665), now: at(1200)) == .met(change))
        #expect(screen.activity.verdict(.static(second, after: 66_666), now: at(1200)) == .open)
    }

    @Test("of another agent is compared with nothing: the screen is static from its first picture on")
    func switches() {
        var screen = Screen()
        screen.shows(frame: 1)
        screen.shows(frame: 2)
        screen.shows(frame: 3, from: .standby)
        #expect(screen.changed == 2 && screen.staticSince == 3)
        screen.shows(frame: 4, from: .standby)
        #expect(screen.changed == 4 && screen.staticSince == 4)
        // A restarted agent, whose keyframe may be a repeat.
        screen.activity.interrupted()
        #expect(screen.staticSince == 0)
        screen.shows(frame: 5, isRepeat: true, from: .standby)
        #expect(screen.changed == 4 && screen.staticSince == 5)
    }

    @Test("is unknown while the source delivers nothing: neither slates nor repeats count")
    func lostSource() {
        var screen = Screen()
        screen.shows(frame: 1)
        screen.activity.sourceLost()
        #expect(screen.staticSince == 0)
        screen.shows(frame: 1, isRepeat: true, isLive: false)
        screen.shows(frame: 2, isLive: false)
        #expect(screen.changed == 0 && screen.staticSince == 0)
        // It is back, and its first frame is on the way.
        screen.shows(frame: 2, isRepeat: true)
        #expect(screen.staticSince == 0)
        screen.shows(frame: 3)
        #expect(screen.changed == 0 && screen.staticSince == 5)
        screen.shows(frame: 4)
        #expect(screen.changed == 6)
    }
}
