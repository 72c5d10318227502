import HeliographAPI
import Relay
import Testing

@Suite("The last events")
struct EventRingTests {
    private static func report(_ number: Int, _ kind: EventReport.Kind = .sessionStarted) -> EventReport {
        var report = EventReport()
        (report.type, report.device) = (kind.rawValue, number.isMultiple(of: 2) ? "even" : "odd")
        report.session = UInt32(number)
        return report
    }

    private static func filter(_ adjust: (inout EventQuery) -> Void = { _ in }) -> EventRing.Filter {
        var query = EventQuery()
        adjust(&query)
        return EventRing.Filter(query)
    }

    @Test("are given in order from any number on, and those that are gone are counted")
    func order() {
        var ring = EventRing()
        #expect(ring.events(after: 0, Self.filter()).events.isEmpty)
        for number in 1...(2 * EventRing.capacity + 7) {
            ring.add(Self.report(number))
            #expect(ring.events(after: UInt64(number - 1), Self.filter()).events.map(\.number) == [UInt64(number)])
        }
        let last = UInt64(2 * EventRing.capacity + 7)
        let all = ring.events(after: 0, Self.filter())
        #expect(all.events.map(\.number) == Array((last - 999)...last) && all.missed == last - 1000)
        let some = ring.events(after: last - 3, Self.filter())
        #expect(some.events.map(\.number) == [last - 2, last - 1, last] && some.missed == 0)
        for number in [last, last + 1, .max] { #expect(ring.events(after: number, Self.filter()).events.isEmpty) }
    }

    @Test("that viewers cause displace no others, and nobody misses what they did not want")
    func viewers() {
        var ring = EventRing()
        ring.add(Self.report(1))
        for number in 2...(EventRing.capacity + 500) { ring.add(Self.report(number, .waitEnded)) }
        ring.add(Self.report(2000, .sessionEnded))
        let last = ring.last
        let sessions = ring.events(after: 0, Self.filter { $0.types = "session" })
        #expect(sessions.events.map(\.number) == [1, last] && sessions.missed == 0)
        let all = ring.events(after: 0, Self.filter())
        #expect(all.events.map(\.number) == [1] + Array((last - 1000)...last) && all.missed == 499)
        let waits = ring.events(after: 400, Self.filter { $0.types = "wait" })
        #expect(waits.events.count == EventRing.capacity && waits.missed == 100)
    }

    @Test("of some devices leave out the others, and the relay's own")
    func devices() {
        var ring = EventRing()
        for number in 1...4 { ring.add(Self.report(number)) }
        var relay = EventReport()
        relay.type = EventReport.Kind.keysChanged.rawValue
        ring.add(relay)
        var filter = Self.filter()
        filter.devices = ["even"]
        #expect(ring.events(after: 0, filter).events.map(\.number) == [2, 4])
        filter.devices = []
        #expect(ring.events(after: 0, filter).events.isEmpty)
    }

    @Test("begin anew after an id that this relay has not made")
    func unknownIDs() {
        let hub = EventHub()
        hub.publish(.keysChanged)
        #expect(hub.number(ofEvent: "\(hub.instance)-1") == 1)
        for id in ["\(hub.instance)-2", "\(hub.instance)-x", "\(hub.instance)-", "00-1", "0"] {
            #expect(hub.number(ofEvent: id) == 0, "\(id)")
        }
        #expect(hub.number(ofEvent: "") == nil && hub.number(ofEvent: nil) == nil)
    }

    @Test("are selected by type, device and session")
    func filters() {
        var ring = EventRing()
        for (number, kind) in EventReport.Kind.allCases.enumerated() { ring.add(Self.report(number, kind)) }
        func kinds(_ adjust: (inout EventQuery) -> Void) -> [EventReport.Kind] {
            ring.events(after: 0, Self.filter(adjust)).events.map(\.kind)
        }
        #expect(kinds { $0.types = "session" } == [.sessionStarted, .sessionChanged, .sessionEnded])
        #expect(kinds { $0.types = "feed.changed,agent" } == [.agentLinked, .agentLost, .feedChanged])
        #expect(kinds { $0.device = "odd" }.count == EventReport.Kind.allCases.count / 2)
        #expect(kinds { $0.session = 1 } == [.agentLinked])
        #expect(ring.events(after: 0, Self.filter()).events[1].data.contains(#""type":"agent.linked""#))
    }
}
