import NIOCore
import Relay
import Testing
import Wire

@Suite("A feed switch whose session nobody watches")
struct FeedDemandTests {
    private typealias Order = FeedSwitch.Order

    private static func linked(_ source: SourceStatus.State = .streaming, standby: Bool = false) -> FeedSwitch {
        var feeds = FeedSwitch(policy: .init(repeats: true, fps: 30))
        feeds.linked(.broadcast, now: at(0))
        feeds.sourceReported(.broadcast, source, now: at(0))
        if standby {
            feeds.linked(.standby, now: at(0))
            feeds.sourceReported(.standby, .streaming, now: at(0))
        }
        return feeds
    }

    private static func key(_ feeds: inout FeedSwitch, _ role: AgentRole, request: UInt32, at now: Int64) -> Bool {
        feeds.takes(role, isKey: true, request: request, captured: at(now).uptimeNanoseconds, now: at(now))
    }

    @Test("activates no agent before somebody does, and then asks for a keyframe at once")
    func begins() {
        var feeds = FeedSwitch(policy: .init(repeats: true, fps: 30))
        feeds.demand(false, now: at(0))
        feeds.linked(.broadcast, now: at(0))
        feeds.sourceReported(.broadcast, .streaming, now: at(0))
        #expect(feeds.orders(now: at(0)) == [])
        #expect(feeds.orders(now: at(60_000)) == [], "nothing is due, however long it lasts")
        feeds.demand(true, now: at(60_000))
        #expect(feeds.orders(now: at(60_000)) == [.requestKeyframe(.broadcast, 1), .activate(.broadcast)])
        let taken = Self.key(&feeds, .broadcast, request: 1, at: 60_020)
        #expect(taken)
        #expect(feeds.record.count == 0)
    }

    @Test("ends the encoder, and sleep is neither stale nor a switch")
    func sleeps() {
        var feeds = Self.linked()
        _ = feeds.orders(now: at(0))
        _ = Self.key(&feeds, .broadcast, request: 1, at: 10)
        feeds.demand(false, now: at(1000))
        #expect(feeds.orders(now: at(1000)) == [Order.deactivate(.broadcast)])
        let late = Self.key(&feeds, .broadcast, request: 1, at: 1010)
        #expect(!late, "what was on its way is for nobody")
        #expect(feeds.orders(now: at(50_000)) == [])
        #expect(feeds.staleSince == nil)
        #expect(feeds.source == .none)
        feeds.demand(true, now: at(50_000))
        #expect(feeds.orders(now: at(50_000)) == [.requestKeyframe(.broadcast, 2), .activate(.broadcast)])
        #expect(feeds.staleSince == nil)
        let (old, answer) = (
            Self.key(&feeds, .broadcast, request: 1, at: 50_010), Self.key(&feeds, .broadcast, request: 2, at: 50_020)
        )
        #expect(!old && answer)
        #expect(feeds.record.count == 0)
        #expect(feeds.source == .pipewire)
    }

    @Test("asks for no keyframe while it sleeps")
    func noRequest() {
        var feeds = Self.linked()
        feeds.demand(false, now: at(0))
        let request = feeds.requestKeyframe(now: at(100))
        #expect(request == nil)
        #expect(feeds.orders(now: at(100)) == [])
    }

    @Test(
        "asks the standby at once when the broadcast's source was lost before its sleep, or in it",
        arguments: [true, false]
    )
    func lostSource(before: Bool) {
        var feeds = Self.linked(standby: true)
        _ = feeds.orders(now: at(0))
        _ = Self.key(&feeds, .broadcast, request: 1, at: 10)
        if before {
            feeds.sourceReported(.broadcast, .lost, now: at(500))
            _ = feeds.orders(now: at(2000))
            _ = Self.key(&feeds, .standby, request: feeds.lastRequestID, at: 2010)
            #expect(feeds.current == .standby)
        }
        feeds.demand(false, now: at(3000))
        _ = feeds.orders(now: at(3000))
        if !before { feeds.sourceReported(.broadcast, .lost, now: at(4000)) }
        feeds.demand(true, now: at(5000))
        #expect(feeds.orders(now: at(5000)).contains(.activate(.standby)))
    }

    @Test("leaves the standby alone when the broadcast's source came back in its sleep")
    func returned() {
        var feeds = Self.linked(standby: true)
        feeds.demand(false, now: at(0))
        feeds.sourceReported(.broadcast, .lost, now: at(1000))
        feeds.sourceReported(.broadcast, .streaming, now: at(2000))
        feeds.demand(true, now: at(3000))
        #expect(feeds.orders(now: at(3000)) == [.requestKeyframe(.broadcast, 1), .activate(.broadcast)])
    }

    @Test("goes to the standby when the broadcast's agent owes pictures after its sleep")
    func stallsAfterwards() {
        var feeds = Self.linked(standby: true)
        feeds.demand(false, now: at(0))
        feeds.demand(true, now: at(10_000))
        _ = feeds.orders(now: at(10_000))
        #expect(!feeds.orders(now: at(10_900)).contains(.activate(.standby)))
        #expect(feeds.orders(now: at(11_200)).contains(.activate(.standby)))
    }
}
