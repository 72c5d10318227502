import NIOCore
import Relay
import Testing
import Wire

@Suite("A session's feed switch")
struct FeedSwitchTests {
    @Test("begins with the broadcast's agent; the standby's session is not active")
    func begins() {
        var stage = FeedStage()
        stage.link(.standby, at: 0)
        #expect(stage.active.isEmpty)
        stage.link(.primary, at: 10)
        #expect(stage.orders == [.requestKeyframe(.primary, 1), .activate(.primary)])
        let (delta, unasked) = (stage.take(.primary, at: 20), stage.take(.primary, key: true, at: 20))
        #expect(!delta && !unasked, "nothing before the keyframe that was asked for")
        #expect(stage.feeds.source == .none)
        let answer = stage.answer(.primary, at: 30)
        #expect(answer)
        #expect(stage.feeds.source == .primary)
        #expect(stage.feeds.record.count == 0, "the first feed does not count as a switch")
        #expect(stage.active == [.primary])
    }

    @Test(
        "goes to the standby when the link is lost, at the keyframe that it asked for, and counts the cause",
        arguments: [
            FeedSwitch.Cause.linkClosed, .linkSilent, .linkFailed,
        ]
    )
    func linkLost(cause: FeedSwitch.Cause) {
        var stage = FeedStage.live()
        let last = stage.take(.primary, at: 990)
        #expect(last)
        stage.lose(.primary, cause, at: 1000)
        #expect(stage.orders == [.requestKeyframe(.standby, 2), .activate(.standby)], "at once")
        #expect(stage.feeds.source == .none)
        #expect(stage.feeds.staleSince == at(1000))
        let old = stage.take(.standby, key: true, request: 1, at: 1005)
        #expect(!old, "not the answer to what another agent was asked")
        let answer = stage.answer(.standby, at: 1040)
        #expect(answer)
        #expect(stage.feeds.source == .standby)
        #expect(stage.feeds.staleSince == nil)
        #expect(stage.feeds.record.causes == [cause: 1])
        #expect(stage.feeds.record.lastGap == .milliseconds(50))
    }

    @Test(
        "returns to the broadcast's agent with its keyframe, not sooner than a second after, and the standby sleeps again"
    )
    func returns() {
        var stage = FeedStage.live()
        stage.lose(.primary, at: 1000)
        _ = stage.answer(.standby, at: 1040)
        stage.link(.primary, .opening, at: 1100)
        #expect(stage.active == [.standby])
        stage.report(.primary, .streaming, at: 1200)
        #expect(stage.active == [.standby], "a source that comes and goes is followed no faster")
        stage.tick(2040)
        #expect(stage.active == [.primary, .standby])
        let meanwhile = stage.take(.standby, at: 2050)
        #expect(meanwhile, "there is no slot without a picture")
        let unasked = stage.take(.primary, key: true, at: 2060)
        #expect(!unasked)
        let answer = stage.answer(.primary, at: 2080)
        #expect(answer)
        #expect(stage.orders == [.deactivate(.standby)])
        let late = stage.take(.standby, at: 2085)
        #expect(!late)
        #expect(stage.feeds.source == .primary)
        #expect(stage.feeds.record.causes == [.linkClosed: 1, .returned: 1])
        #expect(stage.feeds.record.lastGap == .milliseconds(30))
    }

    @Test("goes to the standby when the source is paused or lost, and returns with a frame captured after")
    func sourceGone() {
        for (state, cause) in [(SourceStatus.State.paused, FeedSwitch.Cause.sourcePaused), (.lost, .sourceLost)] {
            var stage = FeedStage.live()
            stage.report(.primary, state, at: 2000)
            #expect(stage.active == [.primary, .standby])
            let repeated = stage.take(.primary, at: 2030)
            #expect(repeated, "the last picture goes on until another comes")
            #expect(stage.feeds.source == .none)
            #expect(stage.feeds.staleSince == at(2000))
            _ = stage.answer(.standby, at: 2050)
            #expect(stage.active == [.standby])
            #expect(stage.feeds.record.causes == [cause: 1])
            stage.report(.primary, .opening, at: 3500)
            stage.report(.primary, .streaming, at: 3600)
            #expect(stage.active == [.primary, .standby])
            let old = stage.answer(.primary, capturedAt: 1990, at: 3610)
            #expect(!old, "it shows what was there before the loss")
            stage.tick(4100)
            let new = stage.answer(.primary, capturedAt: 4090, at: 4110)
            #expect(new)
            #expect(stage.feeds.source == .primary)
        }
    }

    @Test(
        "shows the standby's pictures when the broadcast's first one does not come, or its source is lost from the start"
    )
    func neverBegins() {
        var slow = FeedStage()
        slow.link(.primary, .opening, at: 0)
        slow.link(.standby, at: 500)
        slow.tick(1099)
        #expect(slow.active == [.primary])
        slow.tick(1100)
        #expect(slow.active == [.primary, .standby])
        let shot = slow.answer(.standby, at: 1150)
        #expect(shot)
        #expect(slow.feeds.record.count == 0)
        #expect(slow.feeds.source == .standby)

        var lost = FeedStage()
        lost.link(.primary, .lost, at: 0)
        lost.link(.standby, at: 500)
        #expect(lost.active.contains(.standby))
    }

    @Test("keeps what is alive when both sources are gone, and says that it is stale")
    func bothGone() {
        var stage = FeedStage.live()
        stage.lose(.primary, at: 1000)
        _ = stage.answer(.standby, at: 1050)
        stage.report(.standby, .lost, at: 3000)
        let repeated = stage.take(.standby, at: 3010)
        #expect(repeated)
        #expect(stage.feeds.source == .none)
        #expect(stage.feeds.staleSince == at(3000))
        stage.lose(.standby, at: 4000)
        #expect(stage.feeds.current == nil)
        #expect(stage.feeds.staleSince == at(3000))
        stage.link(.standby, .lost, at: 4200)
        #expect(stage.active == [.standby], "it is asked for what it has: a slate, in the end")
        stage.link(.primary, at: 4300)
        let back = stage.answer(.primary, at: 4310)
        #expect(back)
        #expect(stage.feeds.staleSince == nil)
        #expect(stage.feeds.record.causes == [.linkClosed: 2])
    }

    @Test("that is stopped counts nothing")
    func stopped() {
        var stage = FeedStage.live()
        stage.lose(.primary, nil, at: 1000)
        #expect(stage.active.isEmpty, "the standby's last moments are not for showing")
        stage.lose(.standby, nil, at: 1001)
        stage.link(.primary, at: 60_000)
        _ = stage.answer(.primary, at: 60_010)
        #expect(stage.feeds.record.count == 0)
    }

    @Test("repeats an unanswered request at most every half second, under new ids in the end")
    func repeatsRequests() {
        var stage = FeedStage()
        stage.link(.primary, at: 0)
        var sent: [(time: Int64, id: UInt32)] = [(0, 1)]
        for now in stride(from: Int64(100), through: 10_000, by: 100) {
            stage.tick(now)
            for case .requestKeyframe(.primary, let id) in stage.orders { sent.append((now, id)) }
        }
        #expect(zip(sent, sent.dropFirst()).allSatisfy { $1.time - $0.time >= 500 })
        #expect(sent.count >= 19)
        #expect(Set(sent.map(\.id)).count > 1)
        let late = stage.take(.primary, key: true, request: 1, at: 10_010)
        #expect(late, "an answer to an earlier one is an answer")
    }

    @Test("has one keyframe request in flight, however many ask")
    func hasOneRequestInFlight() {
        var stage = FeedStage.live()
        let first = stage.requestKeyframe(at: 100)
        let second = stage.requestKeyframe(at: 110)
        #expect(first != nil && first == second)
        let other = stage.take(.primary, key: true, at: 120)
        #expect(other)
        let third = stage.requestKeyframe(at: 130)
        #expect(third == first, "another keyframe does not answer it")
        let answer = stage.take(.primary, key: true, request: first ?? 0, at: 140)
        #expect(answer)
        let fourth = stage.requestKeyframe(at: 150)
        #expect(fourth == first.map { $0 + 1 })
    }
}
