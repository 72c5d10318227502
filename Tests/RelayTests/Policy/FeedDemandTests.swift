import NIOCore
import Relay
import Testing
import Wire

@Suite("A feed switch whose session has no viewers")
struct FeedDemandTests {
    private static func linked(_ source: SourceStatus.State = .streaming, standby: Bool = false) -> FeedStage {
        var stage = FeedStage()
        stage.link(.primary, source, at: 0)
        if standby { stage.link(.standby, at: 0) }
        return stage
    }

    @Test("activates no agent before a viewer comes, and then asks for a keyframe at once")
    func begins() {
        var stage = FeedStage()
        stage.demand(false, at: 0)
        stage.link(.primary, at: 0)
        #expect(stage.orders == [])
        stage.tick(60_000)
        #expect(stage.orders == [], "nothing is due, however long it lasts")
        stage.demand(true, at: 60_000)
        #expect(stage.orders == [.requestKeyframe(.primary, 1), .activate(.primary)])
        let taken = stage.take(.primary, key: true, request: 1, at: 60_020)
        #expect(taken)
        #expect(stage.feeds.record.count == 0)
    }

    @Test("ends the encoder, and sleep is neither stale nor a switch")
    func sleeps() {
        var stage = Self.linked()
        _ = stage.take(.primary, key: true, request: 1, at: 10)
        stage.demand(false, at: 1000)
        #expect(stage.orders == [.deactivate(.primary)])
        let late = stage.take(.primary, key: true, request: 1, at: 1010)
        #expect(!late, "what was on its way is for nobody")
        // Pictures that the relay made during the rest are counted when the rest is over.
        stage.repeated(at: 1020)
        stage.tick(50_000)
        #expect(stage.orders == [])
        #expect(stage.feeds.staleSince == nil)
        #expect(stage.feeds.source == .none)
        stage.demand(true, at: 50_000)
        #expect(stage.orders == [.requestKeyframe(.primary, 2), .activate(.primary)])
        #expect(stage.feeds.staleSince == nil)
        let (old, answer) = (
            stage.take(.primary, key: true, request: 1, at: 50_010),
            stage.take(.primary, key: true, request: 2, at: 50_020)
        )
        #expect(!old && answer)
        #expect(stage.feeds.record.count == 0)
        #expect(stage.feeds.source == .primary)
    }

    @Test("asks for no keyframe while it sleeps")
    func noRequest() {
        var stage = Self.linked()
        stage.demand(false, at: 0)
        let request = stage.requestKeyframe(at: 100)
        #expect(request == nil)
        stage.tick(100)
        #expect(stage.orders == [])
    }

    @Test(
        "asks the standby at once when the broadcast's source was lost before its sleep, or in it",
        arguments: [true, false]
    )
    func lostSource(before: Bool) {
        var stage = Self.linked(standby: true)
        _ = stage.take(.primary, key: true, request: 1, at: 10)
        if before {
            stage.report(.primary, .lost, at: 500)
            stage.tick(2000)
            _ = stage.take(.standby, key: true, request: stage.feeds.lastRequestID, at: 2010)
            #expect(stage.feeds.current == .standby)
        }
        stage.demand(false, at: 3000)
        if !before { stage.report(.primary, .lost, at: 4000) }
        stage.demand(true, at: 5000)
        #expect(stage.orders.contains(.activate(.standby)))
    }

    @Test("leaves the standby alone when the broadcast's source came back in its sleep")
    func returned() {
        var stage = FeedStage()
        stage.demand(false, at: 0)
        stage.link(.primary, at: 0)
        stage.link(.standby, at: 0)
        stage.report(.primary, .lost, at: 1000)
        stage.report(.primary, .streaming, at: 2000)
        stage.demand(true, at: 3000)
        #expect(stage.orders == [.requestKeyframe(.primary, 1), .activate(.primary)])
    }

    @Test("goes to the standby when the broadcast's agent owes pictures after its sleep")
    func stallsAfterwards() {
        var stage = Self.linked(standby: true)
        stage.demand(false, at: 0)
        stage.demand(true, at: 10_000)
        stage.tick(10_900)
        #expect(!stage.orders.contains(.activate(.standby)))
        stage.tick(11_200)
        #expect(stage.orders.contains(.activate(.standby)))
    }
}
