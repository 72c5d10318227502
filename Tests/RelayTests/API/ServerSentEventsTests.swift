import HeliographAPI
import Testing

@Suite("Server-sent events")
struct ServerSentEventsTests {
    private typealias Event = ServerSentEvents.Event

    /// Bytes as the relay and other servers send them, and the events in them.
    private static let streams: [(text: String, events: [Event])] = [
        (": events\n\n:\n\n", []),
        (
            "id: 9f-1\nevent: session.started\ndata: {\"a\":1}\n\nevent: events.missed\ndata: {}\n\n",
            [
                Event(id: "9f-1", type: "session.started", data: "{\"a\":1}"),
                Event(id: "9f-1", type: "events.missed", data: "{}"),
            ]
        ),
        ("data: one\r\ndata: two\r\n\r\n", [Event(id: "", type: "", data: "one\ntwo")]),
        ("data:one\rdata:  two\r\r", [Event(id: "", type: "", data: "one\n two")]),
        ("id: 1\n\ndata\n\n", [Event(id: "1", type: "", data: "")]),
        ("event: lost\n\ndata: x\n\n", [Event(id: "", type: "", data: "x")]),
        (
            "id: 1\ndata: x\n\nid\ndata: y\n\n",
            [.init(id: "1", type: "", data: "x"), .init(id: "", type: "", data: "y")]
        ),
        ("retry: 5\nunknown: 1\ndata: é: 1\n\ndata: cut off\n", [Event(id: "", type: "", data: "é: 1")]),
    ]

    @Test("are the same, wherever their bytes are split", arguments: streams.indices)
    func splits(_ number: Int) {
        let (text, expected) = Self.streams[number]
        let bytes = Array(text.utf8)
        for place in 0...bytes.count {
            var events = ServerSentEvents()
            let found = events.read(bytes[..<place]) + events.read(bytes[place...])
            #expect(found == expected, "split at \(place)")
        }
        var events = ServerSentEvents()
        #expect(bytes.flatMap { events.read([$0]) } == expected)
    }

    @Test("hold no more of a line than its most")
    func longLine() {
        var events = ServerSentEvents()
        let line = "data: " + String(repeating: "x", count: 2 * ServerSentEvents.maximumLine)
        let found = events.read("\(line)\n\ndata: y\n\n".utf8)
        #expect(found.count == 2)
        #expect(found.first?.data.utf8.count == ServerSentEvents.maximumLine - "data: ".utf8.count)
        #expect(found.last?.data == "y")
    }
}
