import NIOCore
import Relay
import Testing

@Suite("A connection's clock")
struct RequestClockTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private let limits: ConnectionLimits = {
        var limits = ConnectionLimits()
        limits.requestTimeout = .seconds(10)
        limits.idleTimeout = .seconds(60)
        return limits
    }()

    private func clock() -> RequestClock { RequestClock(limits: limits, now: start) }

    private func after(_ seconds: Int64) -> NIODeadline { start + .seconds(seconds) }

    @Test("refuses whose first request's head does not come in time, however its bytes come")
    func firstHead() {
        var clock = clock()
        #expect(clock.awaitsHead)
        #expect(clock.deadline == after(10))
        #expect(clock.passed(after(9), given: 0, unsent: 0) == .nothing)
        #expect(clock.passed(after(10), given: 0, unsent: 0) == .refuse)
    }

    @Test("ends a body that does not come in time, and closes where that does not end the request")
    func body() {
        var clock = clock()
        clock.headCame(now: after(1))
        #expect(!clock.awaitsHead)
        #expect(clock.deadline == after(11))
        #expect(clock.passed(after(11), given: 0, unsent: 0) == .endBody)
        // The answer does not change the time limit of the body.
        clock.answerBegan(hasLength: true, now: after(12))
        clock.answerEnded(now: after(12))
        #expect(clock.deadline == after(21))
        #expect(clock.passed(after(21), given: 0, unsent: 0) == .close)
    }

    @Test("gives the makers of an answer all the time they take")
    func making() throws {
        var clock = clock()
        clock.headCame(now: after(0))
        clock.bodyEnded(now: after(0))
        for minute in 1...10 { #expect(clock.passed(after(Int64(minute) * 60), given: 0, unsent: 0) == .nothing) }
        clock.answerBegan(hasLength: true, now: after(600))
        #expect(clock.deadline == after(660))
        #expect(clock.passed(after(660), given: 0, unsent: 0) == .nothing)
        #expect(clock.deadline == after(720))
    }

    @Test("closes a connection that takes nothing of an answer, and none that takes a little")
    func unread() {
        var clock = clock()
        clock.headCame(now: after(0))
        clock.bodyEnded(now: after(0))
        clock.answerBegan(hasLength: true, now: after(0))
        clock.answerEnded(now: after(0))
        #expect(clock.passed(after(60), given: 9000, unsent: 5000) == .nothing)
        #expect(clock.passed(after(120), given: 9000, unsent: 4999) == .nothing)
        // It takes as much as it is given, or less.
        #expect(clock.passed(after(180), given: 90_000, unsent: 5000) == .nothing)
        #expect(clock.passed(after(240), given: 96_000, unsent: 10_999) == .nothing)
        #expect(clock.passed(after(300), given: 99_000, unsent: 13_999) == .close)
    }

    @Test("closes a connection whose unread answers keep the next from being begun")
    func unreadBeforeTheNext() {
        var clock = clock()
        clock.headCame(now: after(0))
        clock.bodyEnded(now: after(0))
        clock.answerBegan(hasLength: true, now: after(0))
        clock.answerEnded(now: after(2))
        clock.headCame(now: after(2))
        clock.bodyEnded(now: after(2))
        #expect(!clock.awaitsHead)
        #expect(clock.passed(after(62), given: 5000, unsent: 5000) == .nothing)
        #expect(clock.passed(after(122), given: 5000, unsent: 5000) == .close)
    }

    @Test("leaves streams to the limits of viewers")
    func streams() {
        var clock = clock()
        clock.headCame(now: after(0))
        clock.bodyEnded(now: after(0))
        clock.answerBegan(hasLength: false, now: after(1))
        #expect(clock.deadline == nil)
        #expect(clock.passed(after(10_000), given: 5000, unsent: 5000) == .nothing)
    }

    @Test("closes a connection that is idle between two requests, and begins anew with each request")
    func idle() {
        var clock = clock()
        for request in 0..<3 {
            let begin = Int64(request) * 50
            clock.headCame(now: after(begin))
            clock.bodyEnded(now: after(begin))
            clock.answerBegan(hasLength: true, now: after(begin))
            clock.answerEnded(now: after(begin))
            #expect(clock.awaitsHead)
            #expect(clock.deadline == after(begin + 60))
        }
        #expect(clock.passed(after(160), given: 0, unsent: 0) == .close)
    }
}
