import NIOCore
import Relay
import TestSupport
import Testing

@Suite("Percentiles of the last seconds")
struct LatencyWindowTests {
    private func percentiles(of times: [UInt64]) throws -> LatencyWindow.Percentiles {
        var window = LatencyWindow()
        for time in times { window.add(time, now: at(0)) }
        return try #require(window.percentiles(now: at(0)))
    }

    @Test("are never below the time itself, and at most a sixteenth and 1 µs above it", arguments: 0..<64)
    func precision(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let time = UInt64.random(in: 0...(1 << UInt64.random(in: 0...33)), using: &generator)
            let found = try percentiles(of: [time])
            #expect(found.count == 1 && found.p50 == found.p99)
            #expect(found.p50 >= time && found.p50 <= time + time / 16 + 1000, "\(time) became \(found.p50)")
        }
    }

    @Test("have as many at or below them as they say")
    func ranks() throws {
        let found = try percentiles(of: (1...100).map { UInt64($0) * 1000 }.shuffled())
        #expect(found.count == 100)
        #expect(found.p50 == 50_000 && found.p95 == 96_000 && found.p99 == 100_000, "\(found)")
        let outlier = try percentiles(of: Array(repeating: 1000, count: 99) + [9_000_000_000_000])
        #expect(outlier.p50 == 1000 && outlier.p99 == 1000)
        let rare = try percentiles(of: Array(repeating: 1000, count: 98) + [UInt64.max, .max])
        #expect(rare.p95 == 1000 && rare.p99 > 16_000_000_000)
    }

    @Test("forget what is more than 20 s old, and keep what is less than 10 s old")
    func forgets() {
        var window = LatencyWindow()
        #expect(window.percentiles(now: at(0)) == nil)
        // Rounds of 10 s begin at multiples of 10 s of the clock; at(0) is 1 s.
        window.add(5000, now: at(8000))
        window.add(7000, now: at(9500))
        #expect(window.percentiles(now: at(17_900))?.count == 2)
        window.add(9000, now: at(18_000))
        #expect(window.percentiles(now: at(18_900))?.count == 3)
        #expect(window.percentiles(now: at(19_000))?.count == 2)
        #expect(window.percentiles(now: at(29_000)) == nil)
        window.add(1000, now: at(40_000))
        #expect(window.percentiles(now: at(40_000))?.count == 1)
    }
}
