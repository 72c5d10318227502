import Glibc
import Library

/// A library with items of 200 devices over a year, whose labels are frequent, rare and unique.
struct LibraryBench {
    let library: Library
    let count: Int

    /// The highest p99 of a query's processor time, in ms. It is what a query takes on an idle machine, because its
    /// pages are in memory. The time that passes also depends on what else runs.
    static let limit = 5.0
    private static let epoch: Int64 = 1_760_000_000_000_000
    private static let spacing: Int64 = 30_000_000

    /// Returns the facts of the item with a place in time.
    ///
    /// Device `phone-0` has half of all items, `phone-1` a quarter, and others few. The items of `phone-0` have the
    /// label lane=smoke, those of `phone-1` have lane=nightly: the two never meet.
    private func facts(_ place: Int) -> ItemFacts {
        let device = place % 2 == 0 ? 0 : place % 4 == 1 ? 1 : 2 + (place / 4) % 197
        let isRare = place % 5000 == 7
        return ItemFacts(
            recording: Self.uuid(place / 4),
            number: Int64(place % 4),
            device: isRare ? "tablet-rare" : "phone-\(device)",
            session: UInt32(place / 40),
            sessionName: "checkout \(place % 100)",
            labels: [
                "lane": device == 0 ? "smoke" : device == 1 ? "nightly" : "manual",
                "build": "\(20_000 + place / 500)",
                "test": "com.example.Case\(place % 3000)",
                "result": place % 1000 == 3 ? "failed" : "passed",
                "unit": "unit\(place)",
            ],
            start: Self.epoch + Int64(place) * Self.spacing,
            anchor: Int64(place) * 1000,
            boot: "5c8fd2f6-0000-4000-8000-000000000000",
            duration: Self.spacing,
            bytes: 1_000_000 + Int64(place % 1000),
            tracks: [ItemFacts.Track(codec: "avc1.64001f", kind: "video"), .init(codec: "opus", kind: "audio")],
            width: 1080,
            height: 1920,
            fps: 30,
            gaps: place % 10 == 0 ? [ItemFacts.Gap(start: 5_000_000, length: 100_000, reason: "source_lost")] : [],
            keyframes: 30,
            isComplete: true
        )
    }

    private static func uuid(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    func fill() throws {
        let had = try library.totals().values.reduce(0) { $0 + Int($1.items) }
        guard had < count else { return }
        let began = ContinuousClock.now
        try library.importItems((had..<count).lazy.map { (facts($0), LibraryLayout.path(for: facts($0))) })
        let seconds = Self.milliseconds(ContinuousClock.now - began) / 1000
        print("filled \(count - had) items in \(rounded(seconds)) s")
    }

    /// Prints a line per kind of query, and returns whether all are within the limit.
    func measure() throws -> Bool {
        var isFast = true
        print("items \(count); each query 200 times at random places; limit 100; ms, and cpu99: p99 of processor time")
        print("query                                    rows   p50    p99    max    cpu99  pages to the end")
        for (name, isBounded, change) in queries {
            var (times, costs): ([Double], [Double]) = ([], [])
            var rows = 0
            var generator = SystemRandomNumberGenerator()
            for round in -40..<200 {
                var query = ItemQuery()
                change(&query)
                // Half of the queries begin at the newest item, others anywhere.
                if round % 2 != 0, query.until == nil {
                    query.until = Self.epoch + Int64.random(in: 0..<Int64(count), using: &generator) * Self.spacing
                }
                if round & 3 == 3 { (query.order, query.since, query.until) = (.oldestFirst, query.until, nil) }
                let (began, cost) = (ContinuousClock.now, Self.processorTime())
                let page = try library.items(query)
                // The first queries of a kind read from the disk.
                guard round >= 0 else { continue }
                times.append(Self.milliseconds(ContinuousClock.now - began))
                costs.append(Self.processorTime() - cost)
                rows += page.items.count
            }
            times.sort()
            costs.sort()
            let p99 = times[198]
            if isBounded, costs[198] > Self.limit { isFast = false }
            print(
                padded(name, 40),
                padded("\(rows / 200)", 6),
                padded(rounded(times[100]), 6),
                padded(rounded(p99), 6),
                padded(rounded(times[199]), 6),
                padded(rounded(costs[198]), 6),
                try pages(change)
            )
        }
        return isFast
    }

    /// Prints what recordings, deletions and a pass of retention cost. Leaves the library as it was.
    func measureChanges() throws {
        /// Returns the mean of the time of calls, in ms.
        func mean(_ name: String, _ calls: Int, _ body: (Int) throws -> Void) throws {
            let began = ContinuousClock.now
            for call in 0..<calls { try body(call) }
            let time = Self.milliseconds(ContinuousClock.now - began) / Double(calls)
            print(padded(name, 60), rounded(time), "ms")
        }
        var ids: [Int64] = []
        try mean("begin", 100) { call in
            var facts = facts(count + call)
            facts.isComplete = false
            ids.append(try library.begin(facts, path: LibraryLayout.path(for: facts)))
        }
        try mean("update of 100 recordings", 50) { call in
            try library.update(ids.map { ItemProgress(id: $0, duration: 1, bytes: Int64(call), keyframes: 1) })
        }
        try mean("finish", 100) { try library.finish(ids[$0], facts(count + $0)) }
        try mean("delete", 100) { try library.delete(ids[$0]) }
        try mean("undelete", 100) { try library.undelete(ids[$0]) }
        try mean("changes since the newest mark", 100) { _ in _ = try library.changes(since: nil) }
        try mean("totals", 100) { _ in _ = try library.totals() }
        let mark = try library.changes(since: nil).mark
        var bytes: UInt64 = 0
        try mean("copy of everything", 3) { _ in bytes = try library.copy().file.length }
        print(padded("its size", 60), bytes >> 20, "MiB")
        for id in ids { try library.pin(id, true) }
        try mean("copy of 100 changes", 20) { _ in bytes = try library.copy(since: mark).file.length }
        print(padded("its size", 60), bytes >> 10, "KiB")
        for id in ids { try library.pin(id, false) }
        var limits = RetentionLimits()
        (limits.age, limits.bytes) = (.max, .max)
        try mean("retention, nothing must go", 20) { _ in _ = try library.retain(limits, free: 0) }
        try mean("removal of 100 items", 1) { _ in _ = try library.retire(ids) }
    }

    /// Returns how many pages a query needs to the first row, or to the end, beginning at the newest item.
    private func pages(_ change: (inout ItemQuery) -> Void) throws -> String {
        var query = ItemQuery()
        change(&query)
        let began = ContinuousClock.now
        for page in 1...10_000 {
            let answer = try library.items(query)
            guard answer.items.isEmpty, let next = answer.next else {
                let time = Self.milliseconds(ContinuousClock.now - began)
                return answer.items.isEmpty ? "\(page) in \(rounded(time)) ms, nothing" : "first row on page \(page)"
            }
            query.cursor = next
        }
        return "more than 10000"
    }

    /// The queries, whether the limit counts for them, and what they ask for.
    private var queries: [(String, Bool, (inout ItemQuery) -> Void)] {
        [
            ("list", true, { _ in }),
            ("list of 1000", false, { $0.limit = 1000 }),
            ("frequent device", true, { $0.devices = ["phone-0"] }),
            ("rare device", true, { $0.devices = ["tablet-rare"] }),
            ("20 devices", true, { $0.devices = Set((10..<30).map { "phone-\($0)" }) }),
            ("150 devices", true, { $0.devices = Set((10..<160).map { "phone-\($0)" }) }),
            ("session", true, { $0.session = 1234 }),
            ("frequent label", true, { $0.labels = ["result": "passed"] }),
            ("rare label", true, { $0.labels = ["result": "failed"] }),
            ("unique label", true, { $0.labels = ["unit": "unit4711"] }),
            ("complete", true, { $0.states = [.complete] }),
            ("missing or interrupted", true, { $0.states = [.missing, .interrupted] }),
            ("pinned", true, { $0.isPinned = true }),
            ("not pinned", true, { $0.isPinned = false }),
            ("frequent word", true, { $0.text = "checkout" }),
            ("beginning of a frequent word", true, { $0.text = "ch" }),
            ("one letter", true, { $0.text = "c" }),
            ("beginning of unique words", true, { $0.text = "unit4" }),
            ("rare word", true, { $0.text = "failed" }),
            ("unique word", true, { $0.text = "unit4711" }),
            ("unknown word", true, { $0.text = "xyzzy" }),
            ("three frequent words", true, { $0.text = "checkout smoke passed" }),
            ("rare device, frequent word", true, { ($0.devices, $0.text) = (["tablet-rare"], "checkout") }),
            ("rare device, word it lacks", true, { ($0.devices, $0.text) = (["tablet-rare"], "smoke") }),
            ("rare device, rare word", true, { ($0.devices, $0.text) = (["tablet-rare"], "failed") }),
            ("frequent device, rare word", true, { ($0.devices, $0.text) = (["phone-1"], "failed") }),
            ("frequent device, unique word", true, { ($0.devices, $0.text) = (["phone-1"], "unit4711") }),
            ("frequent device, frequent word", true, { ($0.devices, $0.text) = (["phone-0"], "checkout") }),
            ("frequent device, word it lacks", true, { ($0.devices, $0.text) = (["phone-0"], "nightly") }),
            (
                "rare device, frequent label", true,
                { ($0.devices, $0.labels) = (["tablet-rare"], ["result": "passed"]) }
            ),
            ("frequent labels that never meet", true, { ($0.devices, $0.labels) = (["phone-0"], ["lane": "nightly"]) }),
            ("rare label, frequent word", true, { ($0.labels, $0.text) = (["result": "failed"], "checkout") }),
            ("rare device, missing", true, { ($0.devices, $0.states) = (["tablet-rare"], [.missing]) }),
            (
                "20 devices, frequent word", true,
                {
                    ($0.devices, $0.text) = (Set((10..<30).map { "phone-\($0)" }), "checkout")
                }
            ),
            (
                "20 devices, rare word", true,
                { ($0.devices, $0.text) = (Set((10..<30).map { "phone-\($0)" }), "failed") }
            ),
            (
                "a day, frequent word", true,
                { query in
                    query.since = Self.epoch + 86_400_000_000 * 30
                    query.until = Self.epoch + 86_400_000_000 * 31
                    query.text = "checkout"
                }
            ),
        ]
    }

    /// The processor time of this process, in ms.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1e6
    }

    private static func milliseconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        return Double(seconds) * 1000 + Double(attoseconds) / 1e15
    }

    private func rounded(_ number: Double) -> String { "\((number * 100).rounded() / 100)" }

    private func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
