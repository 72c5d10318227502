import Foundation
import Library
import Testing

@Suite("Retention")
struct RetentionTests {
    private typealias Candidate = RetentionPass.Candidate

    /// Ten items of 100 bytes, aged 10 to 1 days, of two devices and two owners.
    private let items = (0..<10 as Range<Int64>).map { place in
        Candidate(
            id: place,
            device: place % 2 == 0 ? "even" : "odd",
            owner: place < 5 ? "ci" : nil,
            bytes: 100,
            aged: place * day
        )
    }
    private static let day: Int64 = 86_400_000_000

    private func deletions(
        _ items: [Candidate],
        free: Int64 = 1000,
        _ change: (inout RetentionLimits) -> Void
    ) -> [Int64: RetentionPass.Reason] {
        var limits = RetentionLimits()
        change(&limits)
        let kept = items.filter { $0.state != .missing }
        var pass = RetentionPass(
            limits,
            now: 10 * Self.day,
            free: free,
            devices: kept.reduce(into: [:]) { $0[$1.device, default: 0] += $1.bytes },
            owners: kept.reduce(into: [:]) { sums, item in item.owner.map { sums[$0, default: 0] += item.bytes } }
        )
        var found: [Int64: RetentionPass.Reason] = [:]
        for item in items { found[item.id] = pass.offer(item) }
        return found
    }

    @Test("without limits everything stays")
    func none() {
        #expect(deletions(items) { _ in } == [:])
    }

    @Test("each limit deletes the oldest items, and no more than needed")
    func limits() {
        #expect(deletions(items) { $0.age = 7 * Self.day } == [0: .age, 1: .age, 2: .age])
        #expect(deletions(items) { $0.bytes = 750 } == [0: .bytes, 1: .bytes, 2: .bytes])
        #expect(deletions(items) { $0.bytesPerDevice = 300 } == [0: .device, 1: .device, 2: .device, 3: .device])
        #expect(deletions(items) { $0.bytesPerOwner = 200 } == [0: .owner, 1: .owner, 2: .owner])
        #expect(deletions(items, free: 10) { $0.free = 150 } == [0: .free, 1: .free])
        #expect(deletions(items, free: 150) { $0.free = 150 } == [:])
    }

    @Test("a deletion for one limit counts for the others")
    func together() {
        let found = deletions(items, free: 0) {
            ($0.age, $0.bytes, $0.bytesPerDevice, $0.free) = (9 * Self.day, 800, 400, 250)
        }
        #expect(found == [0: .age, 1: .bytes, 2: .free])
    }

    @Test("pinned and recording items stay, but count")
    func pinned() {
        var items = items
        items[0].isPinned = true
        items[1].state = .recording
        #expect(deletions(items) { $0.bytes = 800 } == [2: .bytes, 3: .bytes])
        #expect(deletions(items) { $0.age = 0 }.keys.sorted() == Array(2..<10))
    }

    @Test("missing items go by age only")
    func missing() {
        var items = items
        items[0].state = .missing
        #expect(deletions(items) { $0.bytes = 800 } == [1: .bytes])
        #expect(deletions(items) { $0.age = 9 * Self.day } == [0: .age])
    }

    @Test("a pass has a bound")
    func bound() {
        let found = deletions(items) { ($0.bytes, $0.deletions) = (0, 4) }
        #expect(found.keys.sorted() == [0, 1, 2, 3])
    }

    @Test("a pass ends as soon as nothing more needs to go")
    func done() {
        var limits = RetentionLimits()
        (limits.age, limits.bytes) = (9 * Self.day, 1000)
        var pass = RetentionPass(limits, now: 10 * Self.day, free: 0, devices: ["a": 1000], owners: [:])
        #expect(!pass.isDone)
        #expect(pass.offer(items[0]) == .age)
        #expect(pass.offer(items[1]) == nil)
        #expect(pass.isDone)
    }

    @Test("the library's clock follows the monotonic clock, and a restart adds at most a day")
    func clock() {
        let manual = ManualClock()
        var clock = LibraryClock(last: manual.read())
        func advance(_ change: () -> Void) -> Int64 {
            change()
            let before = clock.time
            clock.advance(to: manual.read())
            return (clock.time - before) / 1_000_000
        }
        #expect(advance { manual.advance(10) } == 10)
        #expect(advance { manual.step(1_000_000_000) } == 0)
        #expect(advance { manual.step(-2_000_000_000) } == 0)
        #expect(advance { manual.restart(off: 3600) } == 3600)
        #expect(advance { manual.restart(off: 1_000_000_000) } == 86_400)
        #expect(advance { manual.restart(off: -5) } == 0)
        #expect(advance { manual.advance(7) } == 7)
    }

    @Test("the system's clocks advance, and the boot has an id")
    func system() {
        let (one, two) = (ClockReading.system(), ClockReading.system())
        #expect(two.monotonic >= one.monotonic)
        #expect(one.boot.utf8.count == 36)
        #expect(one.wall > 1_600_000_000_000_000)
    }

    @Test("old items and their files go, and a step of the clock by years deletes nothing")
    func library() throws {
        let test = try TestLibrary()
        var limits = RetentionLimits()
        limits.age = 3 * Self.day
        let paths = try (0..<3 as Range<Int64>).map { try test.write(TestLibrary.facts($0)) }
        try test.with { library in
            try library.addComplete(TestLibrary.facts(0))
            test.clock.advance(2 * 86_400)
            try library.addComplete(TestLibrary.facts(1))
        }
        test.clock.step(10 * 365 * 86_400)
        try test.with { library in
            try library.addComplete(TestLibrary.facts(2))
            var outcome = try library.retain(limits, free: 0)
            #expect(outcome.removal.items == 0)
            test.clock.advance(86_401)
            outcome = try library.retain(limits, free: 0)
            #expect(outcome.removal.items == 1)
            #expect(outcome.reasons == [.age: 1])
            #expect(paths.map(test.exists) == [false, true, true])
            limits.bytes = 1000
            try library.pin(try #require(try library.items(ItemQuery()).items.first?.id), true)
            outcome = try library.retain(limits, free: 0)
            #expect(outcome.reasons == [.bytes: 1])
            #expect(paths.map(test.exists) == [false, false, true])
            outcome = try library.retain(limits, free: 0)
            #expect(outcome.removal.items == 0)
        }
        test.clock.restart(off: 20 * 365 * 86_400)
        try test.with { library in
            let outcome = try library.retain(limits, free: 0)
            #expect(outcome.removal.items == 0)
        }
    }
}
