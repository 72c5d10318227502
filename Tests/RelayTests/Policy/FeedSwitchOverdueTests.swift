import NIOCore
import Relay
import Testing
import Wire

@Suite("A feed switch whose pictures are overdue")
struct FeedSwitchOverdueTests {
    @Test("goes to the standby when pictures are due and none comes for three intervals and a second")
    func noPictures() {
        var stage = FeedStage.live()
        stage.tick(1099)
        #expect(stage.active == [.primary])
        stage.tick(1100)
        #expect(stage.active == [.primary, .standby])
        _ = stage.answer(.standby, at: 1150)
        #expect(stage.feeds.record.causes == [.noPictures: 1])
        #expect(stage.active == [.primary, .standby], "it goes on being asked")
        stage.tick(2000)
        let again = stage.answer(.primary, at: 2010)
        #expect(again)
        #expect(stage.active == [.primary])
        #expect(stage.feeds.source == .primary)
    }

    @Test("takes no agent for hung that encodes other sessions' pictures first")
    func awaitsTurn() {
        var stage = FeedStage.live()
        for now in stride(from: 250 as Int64, through: 5000, by: 250) {
            stage.awaitTurn(.primary, at: now)
            stage.tick(now)
            #expect(stage.active == [.primary])
        }
        stage.tick(6099)
        #expect(stage.active == [.primary] && stage.feeds.source == .primary)
        stage.tick(6100)
        #expect(stage.active == [.primary, .standby], "it waits no more, and nothing comes")
        #expect(stage.feeds.overdueSince(of: .primary) == at(6100))
        // On busy machines heartbeats come late.
        stage.awaitTurn(.primary, at: 9000)
        stage.tick(9000)
        #expect(stage.feeds.overdueSince(of: .primary) == at(9000), "it still owes the picture, and does not hang")
    }

    @Test("says since when pictures have been overdue, as long as the source streams and none comes")
    func overdue() {
        var stage = FeedStage.live()
        stage.tick(1099)
        #expect(stage.feeds.overdueSince(of: .primary) == nil)
        stage.tick(1100)
        #expect(stage.feeds.overdueSince(of: .primary) == at(1100))
        _ = stage.answer(.standby, at: 1150)
        stage.tick(9000)
        #expect(stage.feeds.overdueSince(of: .primary) == at(1100), "the standby's pictures are not its")
        stage.report(.primary, .lost, at: 9100)
        #expect(stage.feeds.overdueSince(of: .primary) == nil, "without a source it owes none")
        stage.report(.primary, .streaming, at: 9900)
        stage.report(.primary, .streaming, at: 9950)
        #expect(stage.feeds.overdueSince(of: .primary) == at(9900))
        let back = stage.answer(.primary, at: 9960)
        #expect(back)
        #expect(stage.feeds.overdueSince(of: .primary) == nil)
        stage.tick(12_000)
        #expect(stage.feeds.overdueSince(of: .primary) == at(12_000))
        stage.lose(.primary, at: 12_100)
        #expect(stage.feeds.overdueSince(of: .primary) == nil)
    }

    @Test("says the same of a standby that feeds and stops, whose pictures are then no source")
    func standbyOverdue() {
        var stage = FeedStage.live()
        stage.lose(.primary, at: 1000)
        _ = stage.answer(.standby, at: 1040)
        stage.tick(2139)
        #expect(stage.feeds.overdueSince(of: .standby) == nil && stage.feeds.source == .standby)
        stage.tick(2140)
        #expect(stage.feeds.overdueSince(of: .standby) == at(2140) && stage.feeds.source == .none)
        #expect(stage.active == [.standby], "it goes on being asked")
        let again = stage.take(.standby, at: 3000)
        #expect(again && stage.feeds.overdueSince(of: .standby) == nil && stage.feeds.source == .standby)
        stage.tick(9000)
        #expect(stage.feeds.overdueSince(of: .standby) == at(9000))
        stage.lose(.standby, .noPictures, at: 9100)
        stage.link(.standby, at: 9200)
        #expect(stage.active == [.standby] && stage.feeds.overdueSince(of: .standby) == nil)
    }

    @Test("says the same of a standby that is asked and gives no first picture")
    func standbyHangsAtOnce() {
        var stage = FeedStage.live()
        _ = stage.take(.primary, at: 990)
        stage.report(.primary, .lost, at: 1000)
        #expect(stage.active.contains(.standby))
        stage.tick(2099)
        #expect(stage.feeds.overdueSince(of: .standby) == nil)
        stage.tick(2100)
        #expect(stage.feeds.overdueSince(of: .standby) == at(2100))
        #expect(stage.feeds.overdueSince(of: .primary) == nil, "without a source it owes none")
        stage.lose(.standby, .noPictures, at: 12_100)
        stage.link(.standby, at: 12_200)
        #expect(stage.feeds.overdueSince(of: .standby) == nil)
        let answer = stage.answer(.standby, at: 12_300)
        #expect(answer && stage.feeds.source == .standby)
    }

    @Test("says the same of a broadcast's agent that is asked to return and gives no picture")
    func hangsAtReturn() {
        var stage = FeedStage.live()
        stage.report(.primary, .lost, at: 1000)
        _ = stage.answer(.standby, at: 1040)
        stage.report(.primary, .streaming, at: 3000)
        #expect(stage.active == [.primary, .standby])
        _ = stage.take(.standby, at: 4000)
        stage.tick(4100)
        #expect(stage.feeds.overdueSince(of: .primary) == at(4100))
        #expect(stage.feeds.overdueSince(of: .standby) == nil && stage.feeds.source == .standby)
        let back = stage.answer(.primary, at: 4200)
        #expect(back && stage.feeds.source == .primary && stage.feeds.overdueSince(of: .primary) == nil)
    }

    @Test("a keyframe that comes when it had been given up is an answer: nothing is overdue")
    func lateAnswer() {
        var stage = FeedStage.live(repeats: false)
        let asked = stage.requestKeyframe(at: 1000) ?? 0
        for now in stride(from: Int64(1500), through: 2000, by: 500) { stage.tick(now) }
        // It gets ten requests, half a second apart.
        for now in stride(from: Int64(2500), through: 8000, by: 500) { stage.tick(now) }
        let late = stage.take(.primary, key: true, request: asked, at: 9000)
        #expect(late)
        stage.tick(60_000)
        #expect(stage.feeds.overdueSince(of: .primary) == nil && stage.feeds.source == .primary)
    }

    @Test("waits for no picture of a static screen without repeats, unless a keyframe was asked for")
    func withoutRepeats() {
        var stage = FeedStage.live(repeats: false)
        stage.tick(60_000)
        #expect(stage.active == [.primary])
        #expect(stage.feeds.source == .primary)
        let request = stage.requestKeyframe(at: 60_000)
        #expect(request != nil)
        stage.tick(61_050)
        #expect(stage.active == [.primary])
        stage.tick(61_100)
        #expect(stage.active == [.primary, .standby])
    }
}
