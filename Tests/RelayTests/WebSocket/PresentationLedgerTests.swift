import Media
import NIOCore
import Relay
import RelayTestSupport
import Testing

@Suite("What a viewer says it presented")
struct PresentationLedgerTests {
    /// Converts milliseconds on the test's clock to an instant, in ns.
    private func instant(_ milliseconds: Int64) -> UInt64 { at(milliseconds).uptimeNanoseconds }

    private func header(captured: Int64, _ flags: UnitFlags = [], pts: Int64) -> UnitHeader {
        var header = SampleStream.accessUnit(0, key: false).header
        header.captured = instant(captured)
        header.flags = flags
        header.pts = pts
        return header
    }

    /// Returns the ledger of a viewer that joined at 0 and was sent, at 10 ms, the picture with PTS 1, captured at 5
    /// ms.
    private func ledger() -> PresentationLedger {
        var ledger = PresentationLedger(now: at(0))
        ledger.sent(header(captured: 5, pts: 1), now: at(10))
        return ledger
    }

    @Test("counts from capture to the instant that it tells, once")
    func counts() {
        var ledger = ledger()
        let first = ledger.presented(1, at: instant(30), now: at(40))
        #expect(first == .counts(25_000_000))
        let again = ledger.presented(1, at: instant(30), now: at(40))
        #expect(again == .passedOver)
    }

    @Test("is never before the picture was sent, nor after it was told: by more than 0.1 s it is refused")
    func bounds() {
        let expected: [(told: Int64, PresentationLedger.Verdict)] = [
            (-91, .refused), (-90, .counts(5_000_000)), (9, .counts(5_000_000)), (10, .counts(5_000_000)),
            (40, .counts(35_000_000)), (41, .counts(35_000_000)), (140, .counts(35_000_000)), (141, .refused),
            (100_000_000, .refused),
        ]
        for (told, verdict) in expected {
            var ledger = ledger()
            let found = ledger.presented(1, at: instant(told), now: at(40))
            #expect(found == verdict, "presented at \(told) ms")
        }
        var ledger = ledger()
        let zero = ledger.presented(1, at: 0, now: at(40))
        #expect(zero == .refused)
        ledger = self.ledger()
        let end = ledger.presented(1, at: UInt64(Int.max), now: at(40))
        #expect(end == .refused)
    }

    @Test("is ignored for unsent pictures, repeats, pictures older than the viewer, and after 10 s")
    func passedOver() {
        var ledger = ledger()
        ledger.sent(header(captured: -1, pts: 2), now: at(11))
        ledger.sent(header(captured: 12, .repeat, pts: 3), now: at(13))
        // The same frame in another size.
        ledger.sent(header(captured: 5, .key, pts: 4), now: at(14))
        for pts in [0, 2, 3, 4, 5] as [Int64] {
            var ledger = ledger
            let verdict = ledger.presented(pts, at: instant(15), now: at(16))
            #expect(verdict == .passedOver, "PTS \(pts)")
        }
        let late = ledger.presented(1, at: instant(10_005), now: at(10_011))
        #expect(late == .passedOver)
    }

    @Test("never goes back: a picture before the last one told counts no more")
    func order() {
        var ledger = ledger()
        ledger.sent(header(captured: 15, pts: 2), now: at(20))
        let second = ledger.presented(2, at: instant(30), now: at(31))
        #expect(second == .counts(15_000_000))
        let first = ledger.presented(1, at: instant(30), now: at(31))
        #expect(first == .passedOver)
    }

    @Test("counts 20 times a second at most, and holds 600 pictures")
    func limits() {
        var ledger = PresentationLedger(now: at(0))
        for index in 0..<1000 as Range<Int64> {
            ledger.sent(header(captured: 1 + index, pts: index), now: at(1 + index))
        }
        var counted: [Int64] = []
        for index in 0..<1000 as Range<Int64> {
            let verdict = ledger.presented(index, at: instant(1000), now: at(1001))
            if case .counts = verdict { counted.append(index) }
        }
        #expect(counted == Array(400..<420))
    }

    @Test("a frame that says it was captured in the future counts as no time, and keeps none from counting")
    func future() {
        var ledger = PresentationLedger(now: at(0))
        ledger.sent(header(captured: 1_000_000, pts: 1), now: at(10))
        ledger.sent(header(captured: 12, pts: 2), now: at(20))
        let future = ledger.presented(1, at: instant(30), now: at(31))
        #expect(future == .counts(0))
        let next = ledger.presented(2, at: instant(30), now: at(31))
        #expect(next == .counts(18_000_000))
    }
}
