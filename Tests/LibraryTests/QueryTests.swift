import Library
import TestSupport
import Testing

@Suite("Lists")
struct QueryTests {
    private let test: TestLibrary
    private let library: Library

    init() throws {
        test = try TestLibrary()
        library = try test.open()
    }

    private func query(_ change: (inout ItemQuery) -> Void) -> ItemQuery {
        var query = ItemQuery()
        change(&query)
        return query
    }

    @Test("each filter finds exactly the items that a look at every item finds, alone and with others")
    func filters() throws {
        var generator = SeededGenerator(seed: 7)
        var all: [Item] = []
        for time in 0..<600 as Range<Int64> {
            let facts = TestLibrary.facts(
                time,
                device: "phone-\([0, 0, 0, 1, 1, 2].randomElement(using: &generator) ?? 0)",
                session: UInt32.random(in: 1...4, using: &generator),
                name: ["Login", "check-out", nil].randomElement(using: &generator) ?? nil,
                labels: [
                    "lane": ["smoke", "nightly"].randomElement(using: &generator) ?? "",
                    "build": "\(100 + time / 50)",
                ],
                isComplete: time % 50 != 3
            )
            let id = try library.addComplete(facts)
            if time % 40 == 0 { try library.pin(id, true) }
            all.append(try #require(try library.item(id)))
        }
        /// Filters with what they mean.
        let filters: [(String, (inout ItemQuery) -> Void, (Item) -> Bool)] = [
            ("all", { _ in }, { _ in true }),
            ("device", { $0.devices = ["phone-2"] }, { $0.facts.device == "phone-2" }),
            (
                "devices", { $0.devices = ["phone-2", "phone-1", "x"] },
                { ["phone-2", "phone-1"].contains($0.facts.device) }
            ),
            ("session", { $0.session = 3 }, { $0.facts.session == 3 }),
            ("label", { $0.labels["build"] = "104" }, { $0.facts.labels["build"] == "104" }),
            ("lane", { $0.labels["lane"] = "smoke" }, { $0.facts.labels["lane"] == "smoke" }),
            ("state", { $0.states = [.interrupted] }, { $0.state == .interrupted }),
            ("states", { $0.states = [.complete, .missing] }, { $0.state == .complete }),
            ("pinned", { $0.isPinned = true }, { $0.isPinned }),
            ("free", { $0.isPinned = false }, { !$0.isPinned }),
            ("word", { $0.text = "LOG" }, { $0.facts.sessionName == "Login" }),
            (
                "words", { $0.text = "night out" },
                { $0.facts.sessionName == "check-out" && $0.facts.labels["lane"] == "nightly" }
            ),
            (
                "since", { $0.since = TestLibrary.start + 100 * TestLibrary.second },
                { $0.facts.start >= TestLibrary.start + 100 * TestLibrary.second }
            ),
            (
                "until", { $0.until = TestLibrary.start + 500 * TestLibrary.second },
                { $0.facts.start < TestLibrary.start + 500 * TestLibrary.second }
            ),
        ]
        for (first, one, isOne) in filters {
            for (second, other, isOther) in filters {
                for (order, limit) in [(ItemQuery.Order.newestFirst, 7), (.oldestFirst, 100)] {
                    let query = query {
                        one(&$0)
                        other(&$0)
                        ($0.order, $0.limit) = (order, limit)
                    }
                    // Two filters of one kind are not both in the query.
                    guard
                        first == second
                            || query
                                != self.query({
                                    one(&$0); ($0.order, $0.limit) = (order, limit)
                                })
                    else { continue }
                    let replaced = Self.kind(first) == Self.kind(second)
                    let wanted = all.filter { (replaced || isOne($0)) && isOther($0) }.map(\.id)
                    let found = try library.ids(query)
                    #expect(found == (order == .oldestFirst ? wanted : wanted.reversed()), "\(first), \(second)")
                }
            }
        }
    }

    /// The field of a query that a filter sets.
    private static func kind(_ name: String) -> String {
        switch name {
        case "devices": "device"
        case "states": "state"
        case "free": "pinned"
        case "words": "word"
        default: name
        }
    }

    @Test("a query never leaves the caller's devices")
    func scope() throws {
        let mine = try library.addComplete(TestLibrary.facts(0, device: "mine"))
        let other = try library.addComplete(TestLibrary.facts(1, device: "other"))
        let scope = DeviceScope.only(["mine"])
        for (devices, wanted) in [(nil, [mine]), (["other"], []), (["mine", "other"], [mine])]
            as [(Set<String>?, [Int64])]
        {
            let found = try library.ids(query { $0.devices = devices }, scope: scope)
            #expect(found == wanted)
        }
        let nothing = try library.ids(scope: .only([]))
        #expect(nothing.isEmpty)
        let hidden = try library.item(other, scope: scope)
        #expect(hidden == nil)
        let mark = try library.changes(since: nil).mark
        try library.pin(other, true)
        let changes = try library.changes(since: mark, scope: scope).changes
        #expect(changes.isEmpty)
    }

    @Test("a scope of many devices finds all their items, and ends")
    func manyDevices() throws {
        var wanted: [Int64] = []
        for time in 0..<500 as Range<Int64> {
            let id = try library.addComplete(TestLibrary.facts(time, device: "phone-\(time % 250)"))
            if time % 250 < 100 { wanted.append(id) }
        }
        let many = Set((0..<100).map { "phone-\($0)" })
        let found = try library.ids(query { $0.limit = 33 }, scope: .only(many))
        #expect(found == wanted.reversed())
        let few = Set((0..<20).map { "phone-\($0)" })
        let some = try library.ids(query { $0.limit = 1 }, scope: .only(few))
        #expect(some.count == 40)
    }

    @Test("values that never meet end in empty pages that continue")
    func disjoint() throws {
        for time in 0..<2600 as Range<Int64> {
            try library.addComplete(
                TestLibrary.facts(time, device: "phone-\(time % 2)", labels: ["lane": time % 2 == 0 ? "even" : "odd"])
            )
        }
        var query = query { ($0.devices, $0.labels) = (["phone-0"], ["lane": "odd"]) }
        let page = try library.items(query)
        #expect(page.items.isEmpty)
        #expect(page.next != nil)
        #expect(page.reached ?? 0 > TestLibrary.start)
        query.text = "phone"
        let found = try library.ids(query)
        #expect(found.isEmpty)
    }

    @Test("pages continue where they ended while items come and go")
    func paging() throws {
        let ids = try (0..<10 as Range<Int64>).map { try library.addComplete(TestLibrary.facts($0)) }
        let first = try library.items(query { $0.limit = 4 })
        #expect(first.items.map(\.id) == ids[6...].reversed())
        try library.addComplete(TestLibrary.facts(11))
        try library.delete(ids[6])
        try library.delete(ids[5])
        let rest = try library.ids(query { ($0.limit, $0.cursor) = (4, first.next) })
        #expect(rest == ids[..<5].reversed())
    }

    @Test(
        "cursors and limits that are not from here are refused",
        arguments: ["", "x", "d", "a1", "d-1", "d+1", "d1 ", "dzzzzzzzzzzzzz", "d01"]
    )
    func cursors(cursor: String) throws {
        #expect(throws: LibraryError.badCursor(cursor)) { try library.items(query { $0.cursor = cursor }) }
        for limit in [0, -1, 1001, .max, .min] {
            #expect(throws: LibraryError.badLimit(limit)) { try library.items(query { $0.limit = limit }) }
        }
    }

    @Test(
        "a search text is data: no text is an error, or finds what it does not name",
        arguments: [
            "\"", "\"login", "login*", "login AND", "AND OR NOT", "NEAR(a b)", "words:login", "^login", "(", "login)",
            "{a b}:c", "'; DROP TABLE item; --", "\0", "login\0x", "-login", "+", "a + b", "%", "_", "\u{1F}", "🎉",
            String(repeating: "login ", count: 10_000), String(repeating: "x", count: 100_000),
        ]
    )
    func hostile(text: String) throws {
        let id = try library.addComplete(TestLibrary.facts(0, name: "Login"))
        let found = try library.ids(query { $0.text = text })
        let names = text.lowercased().split { !$0.isLetter }.map(String.init)
        let isFound = names.allSatisfy { "login".hasPrefix($0) || "phone".hasPrefix($0) }
        #expect(found == (isFound ? [id] : []))
    }

    @Test("words are found by their beginning, in any case and script, up to twelve characters")
    func words() throws {
        let id = try library.addComplete(
            TestLibrary.facts(0, name: "Größe-ÜBER", labels: ["Internationalisierung": "日本語 v2.10"])
        )
        for text in ["größe", "über", "INTERN", "internationalXYZ", "日本", "v2 10", "phone 1", "g ü", " , "] {
            let found = try library.ids(query { $0.text = text })
            #expect(found == [id], "\(text)")
        }
        for text in ["roße", "intex", "本語", "v3", "phone 2"] {
            let found = try library.ids(query { $0.text = text })
            #expect(found.isEmpty, "\(text)")
        }
    }

    @Test("edited labels are found, and the former ones are not")
    func labels() throws {
        let id = try library.addComplete(TestLibrary.facts(0, labels: ["build": "17", "lane": "smoke"]))
        let labels = try library.label(id, ["build": "18", "lane": nil, "note": "flaky"])
        #expect(labels == ["build": "18", "note": "flaky"])
        for (text, isFound) in [("17", false), ("18", true), ("smoke", false), ("flaky", true), ("phone", true)] {
            let found = try library.ids(query { $0.text = text })
            #expect(found.isEmpty != isFound, "\(text)")
        }
        for (name, value, isFound) in [("build", "17", false), ("build", "18", true), ("lane", "smoke", false)] {
            let found = try library.ids(query { $0.labels = [name: value] })
            #expect(found.isEmpty != isFound, "\(name)=\(value)")
        }
        #expect(throws: LibraryError.self) { try library.label(id, ["a": "\u{7}"]) }
        #expect(throws: LibraryError.unknownItem(1)) { try library.label(1, [:]) }
        #expect(throws: LibraryError.unknownItem(1)) { try library.pin(1, true) }
    }
}
