import CaptureAgent
import Testing

@Suite("When screenshots are taken")
struct ShotScheduleTests {
    private static func ms(_ count: Int) -> UInt64 { UInt64(count) * 1_000_000 }

    /// Returns a schedule that has been wanted at 20 shots per second since 1000 ms.
    private static func wanted(_ pace: ShotSchedule.Pace = .clock) -> ShotSchedule {
        var schedule = ShotSchedule(pace: pace)
        schedule.follow(fps: 20, now: ms(1000))
        return schedule
    }

    @Test("without a session there are none, with one the first comes at once")
    func demand() {
        var schedule = ShotSchedule(pace: .clock)
        #expect(schedule.due == nil)
        schedule.follow(fps: 20, now: Self.ms(1000))
        #expect(schedule.due == Self.ms(1000))
        schedule.taken(began: Self.ms(1000), ended: Self.ms(1005))
        schedule.follow(fps: nil, now: Self.ms(1010))
        #expect(schedule.due == nil)
        schedule.follow(fps: 20, now: Self.ms(1020))
        #expect(schedule.due == Self.ms(1020))
    }

    @Test("at exact intervals, however long shots take within them")
    func cadence() {
        var schedule = Self.wanted()
        for (shot, milliseconds) in [3, 40, 1, 49].enumerated() {
            let due = Self.ms(1000 + shot * 50)
            #expect(schedule.due == due)
            schedule.taken(began: due, ended: due + Self.ms(milliseconds))
        }
    }

    @Test("slow shots lower the rate, and what was missed is not caught up on")
    func slow() {
        var schedule = Self.wanted()
        schedule.taken(began: Self.ms(1000), ended: Self.ms(1320))
        #expect(schedule.due == Self.ms(1320))
        schedule.taken(began: Self.ms(1320), ended: Self.ms(1321))
        #expect(schedule.due == Self.ms(1370))
    }

    @Test("a rest after each program, as long as it took")
    func rest() {
        var schedule = Self.wanted(.halfTime)
        schedule.taken(began: Self.ms(1000), ended: Self.ms(1020))
        #expect(schedule.due == Self.ms(1050))
        schedule.taken(began: Self.ms(1050), ended: Self.ms(1350))
        #expect(schedule.due == Self.ms(1650))
    }

    @Test("if the screen's refresh paces shots, each is requested early enough for its refresh")
    func refresh() {
        var schedule = Self.wanted(.refresh)
        for refresh in [1010, 1060, 1110] {
            let began = schedule.due!
            schedule.taken(began: began, ended: Self.ms(refresh))
            #expect(schedule.due == Self.ms(refresh) + 37_500_000)
        }
    }

    @Test("one that has waited for a change is followed at once, but not the next one")
    func change() {
        for (pace, early) in [(ShotSchedule.Pace.refresh, 37.5), (.clock, 50.0)] {
            var schedule = Self.wanted(pace)
            schedule.taken(began: Self.ms(1000), ended: Self.ms(1000))
            schedule.taken(began: schedule.due!, ended: Self.ms(3000))
            #expect(schedule.due == Self.ms(3000))
            schedule.taken(began: Self.ms(3000), ended: Self.ms(3001))
            let interval = UInt64(early * 1e6)
            #expect(schedule.due! >= Self.ms(3000) + interval && schedule.due! <= Self.ms(3001) + interval)
        }
    }

    @Test("reports of changes are relied on until two changes in a row come without one")
    func reports() {
        var reports = ChangeReports()
        for isReported in [true, false, true, false] {
            reports.changed(isReported: isReported)
            #expect(reports.areReliable)
        }
        reports.changed(isReported: false)
        #expect(!reports.areReliable)
    }

    @Test("another rate counts from the last shot")
    func otherRate() {
        var schedule = Self.wanted()
        schedule.taken(began: Self.ms(1000), ended: Self.ms(1001))
        schedule.follow(fps: 100, now: Self.ms(1002))
        #expect(schedule.due == Self.ms(1010))
        schedule.follow(fps: 1, now: Self.ms(1003))
        #expect(schedule.due == Self.ms(2000))
    }

    @Test("pauses grow while shots fail, also for a new session; the fifth failure in a row is the last")
    func failures() {
        var schedule = Self.wanted()
        var now = Self.ms(1000)
        for pause in [100, 200, 400, 800] {
            schedule.failed(began: now, ended: now)
            #expect(!schedule.hasFailed)
            #expect(schedule.due == now + Self.ms(pause))
            schedule.follow(fps: nil, now: now)
            schedule.follow(fps: 20, now: now)
            #expect(schedule.due == now + Self.ms(pause))
            now += Self.ms(pause)
        }
        schedule.failed(began: now, ended: now)
        #expect(schedule.hasFailed)
        schedule.taken(began: now, ended: now)
        #expect(!schedule.hasFailed)
        schedule.failed(began: now, ended: now)
        #expect(schedule.due == now + Self.ms(100))
    }
}
