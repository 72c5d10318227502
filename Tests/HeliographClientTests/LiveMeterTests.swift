import HeliographClient
import Testing

@Suite("Statistics of a session that a program watches")
struct LiveMeterTests {
    private static let second: UInt64 = 1_000_000_000
    private static let millisecond: UInt64 = 1_000_000
    private static let format = PictureFormat(codec: "avc3.42C01F", width: 640, height: 360, parameterSets: [])

    private static func picture(captured: UInt64, received: UInt64, isRepeat: Bool = false, size: Int = 1) -> MediaUnit
    {
        MediaUnit(
            content: .picture(format),
            pts: Int64(captured / 1000),
            isKeyframe: false,
            isRepeat: isRepeat,
            captured: captured,
            relayed: captured,
            received: received,
            bytes: [UInt8](repeating: 0, count: size)
        )
    }

    /// Returns a meter that has compared the clocks: this one is ahead by `offset`, and an answer takes 2 ms.
    private static func meter(ahead offset: UInt64) -> LiveMeter {
        var meter = LiveMeter(now: 0)
        var (now, question) = (9 * second, meter.clock.ask(now: 9 * second))
        while let id = question {
            now += 2 * millisecond
            question = meter.clock.answered(id, relay: now - millisecond - offset, now: now)
        }
        return meter
    }

    @Test("compare the clocks by the answer that was quickest of eight")
    func clock() throws {
        var clock = RelayClock()
        var question = clock.ask(now: 100 * Self.millisecond)
        var now = 100 * Self.millisecond
        // The relay is 5 s ahead. The way there takes longer and longer than the way back.
        for trip in [40, 30, 8, 20, 50, 60, 70, 80] as [UInt64] {
            let id = try #require(question)
            now += trip * Self.millisecond
            question = clock.answered(id, relay: now - trip * Self.millisecond / 4 + 5 * Self.second, now: now)
        }
        #expect(question == nil)
        let found = try #require(clock.offset)
        #expect(found.error == 4 * Self.millisecond)
        #expect(abs(found.nanoseconds + Int64(5 * Self.second)) <= Int64(found.error))
        let later = now + Self.second
        #expect(
            clock.relay(later).map { abs(Int64($0) - Int64(later + 5 * Self.second)) <= Int64(found.error) } == true
        )
        let (soon, after) = (clock.ask(now: now), clock.ask(now: now + 11 * Self.second))
        #expect(soon == nil && after != nil)
    }

    @Test("ignore answers to other questions")
    func otherAnswers() throws {
        var clock = RelayClock()
        let asked = clock.ask(now: 1)
        let first = try #require(asked)
        let other = clock.answered(first + 1, relay: 1, now: 2)
        #expect(other == nil && clock.offset == nil)
        let right = clock.answered(first, relay: .max, now: 2)
        #expect(right != nil)
    }

    @Test("have latencies across machines, of new frames only")
    func latencies() throws {
        let offset = 3 * Self.second
        var meter = Self.meter(ahead: offset)
        for number in 1...100 as ClosedRange<UInt64> {
            let captured = (10 + number) * Self.second
            let received = captured + offset + number * Self.millisecond
            let unit = Self.picture(captured: captured, received: received)
            meter.take(unit)
            meter.decoded(unit, now: received + 2 * Self.millisecond)
            _ = meter.presented(unit, now: received + 4 * Self.millisecond)
            meter.take(Self.picture(captured: 1, received: received, isRepeat: true))
        }
        let statistics = meter.statistics(now: 200 * Self.second, dropped: 5)
        let received = try #require(statistics.captureToReceive)
        #expect(received.p50 == .milliseconds(50) && received.p95 == .milliseconds(95))
        #expect(received.p99 == .milliseconds(99) && received.count == 100)
        #expect(statistics.receiveToDecode?.p99 == .milliseconds(2))
        #expect(statistics.captureToPresent?.p50 == .milliseconds(54))
        #expect(statistics.pictures == 200 && statistics.repeats == 100 && statistics.dropped == 5)
        #expect(statistics.impossible == 0)
    }

    @Test("leave out latencies that cannot be, and count them")
    func impossible() {
        var meter = Self.meter(ahead: 0)
        for (captured, received) in [(10, 9), (1, 100), (.max, 5), (0, .max)] as [(UInt64, UInt64)] {
            meter.take(
                Self.picture(
                    captured: captured.multipliedReportingOverflow(by: Self.second).partialValue,
                    received: received.multipliedReportingOverflow(by: Self.second).partialValue
                )
            )
        }
        let statistics = meter.statistics(now: 100 * Self.second, dropped: 0)
        #expect(statistics.captureToReceive == nil && statistics.impossible == 4)
    }

    @Test("have rates since the last ones, over a second or more")
    func rates() {
        var meter = LiveMeter(now: 0)
        for number in 0..<60 as Range<UInt64> {
            meter.take(Self.picture(captured: 0, received: number * Self.second / 30, size: 1000))
        }
        let first = meter.statistics(now: 2 * Self.second, dropped: 0)
        #expect(first.fps == 30 && first.bitrate == 240_000 && first.time == .seconds(2))
        let again = meter.statistics(now: 2 * Self.second + Self.millisecond, dropped: 0)
        #expect(again.fps == 30 && again.time == .seconds(2))
        let last = meter.statistics(now: 4 * Self.second, dropped: 0)
        #expect(last.fps == 0)
    }

    @Test("tell the relay of ten presentations a second at most")
    func acknowledgements() {
        var meter = Self.meter(ahead: Self.second)
        let told = (0..<60 as Range<UInt64>).compactMap { number in
            let now = 10 * Self.second + number * Self.second / 60
            let unit = Self.picture(captured: now - 1_100 * Self.millisecond, received: now)
            return meter.presented(unit, now: now)
        }
        #expect(told.count == 10)
        #expect(told.first == 9 * Self.second)
    }
}
