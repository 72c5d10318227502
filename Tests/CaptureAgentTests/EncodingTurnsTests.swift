import CaptureAgent
import Glibc
import Synchronization
import Testing

@Suite struct EncodingTurnsTests {
    /// The most threads that may run: more would make the threads that send pictures wait for a processor.
    @Test func noMoreThanTheLimitHaveTheirTurn() throws {
        let turns = EncodingTurns(limit: 3, longestTurn: .milliseconds(600_000))
        let count = Mutex((now: 0, largest: 0, all: 0))
        let threads = try (0..<40).map { _ in
            try WorkerThread(name: "turn") {
                let place = EncodingTurns.Place()
                for _ in 0..<25 {
                    turns.begin(place)
                    count.withLock { count in
                        count.now += 1
                        count.all += 1
                        count.largest = max(count.largest, count.now)
                    }
                    usleep(200)
                    count.withLock { $0.now -= 1 }
                    turns.end(place)
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(count.withLock { $0.largest } == 3)
        #expect(count.withLock { $0.all } == 1000)
    }

    @Test func turnsAreGivenInTheOrderInWhichTheyWereAskedFor() throws {
        let turns = EncodingTurns(limit: 1, longestTurn: .milliseconds(600_000))
        let first = EncodingTurns.Place()
        turns.begin(first)
        let order = Mutex<[Int]>([])
        let threads = try (0..<8).map { index in
            let thread = try WorkerThread(name: "turn") {
                let place = EncodingTurns.Place()
                turns.begin(place)
                order.withLock { $0.append(index) }
                turns.end(place)
            }
            while turns.counts.waiting <= index { usleep(1_000) }
            return thread
        }
        turns.end(first)
        for thread in threads { thread.join() }
        #expect(order.withLock { $0 } == Array(0..<8))
    }

    /// A hanging encoder keeps its turn forever.
    @Test func turnsThatNeverEndHoldNobodyUpForLong() throws {
        let turns = EncodingTurns(limit: 2, longestTurn: .milliseconds(50))
        let hung = (0..<2).map { _ in EncodingTurns.Place() }
        for place in hung { turns.begin(place) }
        let places = (0..<5).map { _ in EncodingTurns.Place() }
        for place in places {
            turns.begin(place)
            turns.end(place)
        }
        // Threads that come back after all must not take another thread's turn away.
        for place in hung { turns.end(place) }
        for place in places.prefix(2) { turns.begin(place) }
        #expect(turns.counts.turns <= 2 && turns.counts.waiting == 0)
    }
}
