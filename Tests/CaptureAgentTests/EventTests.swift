import CaptureAgent
import TestSupport
import Testing

@Suite("Events and ends")
struct EventTests {
    @Test("an event is set until it is cleared, whichever threads do it and look")
    func event() throws {
        let event = try Event()
        for _ in 0..<100 {
            #expect(!event.isSet)
            try WorkerThread(name: "sets") { event.set() }.join()
            try WorkerThread(name: "sets again") { event.set() }.join()
            #expect(event.isSet)
            event.wait()
            try WorkerThread(name: "clears") { event.clear() }.join()
        }
        #expect(!event.wait(until: MonotonicClock.now))
    }

    @Test("an end comes once and stays, for all that wait for it and look at it")
    func completion() throws {
        for _ in 0..<100 {
            let end = Completion()
            #expect(!end.isSet)
            let waiters = try (0..<3).map { _ in try WorkerThread(name: "waits") { end.wait() } }
            try WorkerThread(name: "ends") { end.set() }.join()
            #expect(end.isSet)
            for waiter in waiters { waiter.join() }
            end.set()
            end.wait()
            #expect(end.isSet)
        }
    }
}
