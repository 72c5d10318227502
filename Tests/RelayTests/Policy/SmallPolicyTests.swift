import HeliographAPI
import Media
import NIOCore
import Relay
import RelayTestSupport
import Testing
import Wire

@Suite("Small policies")
struct SmallPolicyTests {
    @Test("Heartbeats give rates per second over the time between them")
    func heartbeatsGiveRates() throws {
        var history = HeartbeatHistory()
        history.add(
            heartbeat(clock: 1_000_000_000, frames: 100, live: 50, repeats: 1, bytes: 1000, encode: 0),
            now: at(0)
        )
        #expect(history.framesReceivedPerSecond == nil)
        #expect(history.rates(of: 7) == nil)
        history.add(
            heartbeat(clock: 3_000_000_000, frames: 220, live: 110, repeats: 3, bytes: 2000, encode: 124_000_000),
            now: at(2000)
        )
        #expect(history.framesReceivedPerSecond == 60)
        let rates = try #require(history.rates(of: 7))
        #expect(rates == SessionRates(encodedLive: 30, repeats: 1, pictures: 31, bitrate: 4000, encodeMilliseconds: 2))
        #expect(history.rates(of: 8) == nil)
    }

    @Test("Heartbeats with any numbers give rates")
    func hostileHeartbeatsGiveRates() throws {
        var history = HeartbeatHistory()
        history.add(heartbeat(clock: 0, frames: 5, live: 5, repeats: 0, bytes: 0, encode: 9), now: at(0))
        history.add(
            heartbeat(clock: 1, frames: .max, live: .max, repeats: 5, bytes: .max, encode: .max),
            now: at(0)
        )
        let rates = try #require(history.rates(of: 7))
        #expect(rates.pictures.isFinite && rates.bitrate.isFinite)
        history.add(heartbeat(clock: .max, frames: 0, live: 0, repeats: 0, bytes: 0, encode: 0), now: at(0))
        #expect(history.rates(of: 7)?.pictures == 0)
        history.add(heartbeat(clock: 0, frames: 0, live: 0, repeats: 0, bytes: 0, encode: 0), now: at(0))
        #expect(history.rates(of: 7) == nil)
    }

    @Test("A session that a heartbeat calls unchanged has its figures and rates, with what the relay made in its place")
    func unchangedSessionsHaveRates() throws {
        var history = HeartbeatHistory()
        var tally = RestTally()
        history.add(heartbeat(clock: 0, frames: 5, live: 5, repeats: 0, bytes: 0, encode: 9), now: at(0)) { _ in tally }
        var unchanged = heartbeat(clock: 2_000_000_000, frames: 5, live: 5, repeats: 0, bytes: 0, encode: 9)
        (unchanged.sessions, unchanged.unchanged) = ([], [7])
        tally.skipped = 60
        history.add(unchanged, now: at(2000)) { $0 == 7 ? tally : nil }
        #expect(history.figures(of: 7)?.counters.encodedLive == 5)
        #expect(history.figures(of: 7)?.counters.skipped == 60)
        #expect(history.rates(of: 7)?.repeats == 30)
        tally.skipped = 90
        unchanged.clock = 4_000_000_000
        history.add(unchanged, now: at(4000)) { _ in tally }
        #expect(history.rates(of: 7)?.repeats == 15)
        (unchanged.unchanged, unchanged.clock) = (nil, 6_000_000_000)
        history.add(unchanged, now: at(6000)) { _ in tally }
        #expect(history.figures(of: 7) == nil)
        #expect(history.rates(of: 7) == nil)
    }

    private func heartbeat(clock: UInt64, frames: UInt64, live: UInt64, repeats: UInt64, bytes: UInt64, encode: UInt64)
        -> Heartbeat
    {
        var counters = SessionCounters()
        counters.encodedLive = live
        counters.reencodedRepeats = repeats
        counters.bytes = bytes
        counters.encodeTimes.add(encode)
        return Heartbeat(session: 7, clock: clock, framesReceived: frames, counters: counters)
    }

    @Test("A session without a limit is never idle too long; with one it is, to the nanosecond")
    func anIdleLimit() {
        #expect(!IdleLimit(limit: nil, now: at(0)).isOver(now: .distantFuture))
        var limit = IdleLimit(limit: .seconds(1), now: at(0))
        limit.used(now: at(500))
        #expect(!limit.isOver(now: at(1499)))
        #expect(limit.isOver(now: at(1500)))
    }

    @Test("Lines are cut at line ends, and long ones shortened")
    func linesAreCut() {
        var lines = LineAssembler(limit: 5)
        #expect(lines.append(Array("ab\n\ncdefghij\r\nkl".utf8)) == ["ab", "cdefg"])
        #expect(lines.finish() == "kl")
        #expect(lines.finish() == nil)
    }

    @Test(
        "Only loopback addresses are local",
        arguments: [
            ("127.0.0.1", true), ("127.8.9.1", true), ("localhost", true), ("LOCALHOST", true), ("::1", true),
            ("0.0.0.0", false), ("192.168.0.1", false), ("127.0.0.1.evil.com", false), ("127.evil", false),
            ("::", false),
        ]
    )
    func onlyLoopbackIsLocal(host: String, isLocal: Bool) {
        #expect(Endpoint.isLoopback(host: host) == isLocal)
    }

    @Test(
        "Hosts and ports are parsed strictly",
        arguments: [
            ("127.0.0.1:80", Endpoint(host: "127.0.0.1", port: 80)), ("[::1]:0", Endpoint(host: "::1", port: 0)),
            ("::1:80", nil), ("host", nil), (":80", nil), ("h:65536", nil), ("h:-1", nil), ("h:", nil),
        ]
    )
    func endpointsAreParsed(text: String, endpoint: Endpoint?) {
        #expect(Endpoint(text) == endpoint)
    }

    @Test("A configured token must be long enough, and white space around it is ignored")
    func aConfiguredTokenIsLongEnough() throws {
        let token = try LinkToken(configured: " 0123456789abcdef\n", source: "test")
        #expect(token.matches("0123456789abcdef"))
        #expect(throws: RelayStartError.tokenTooShort(source: "test")) {
            try LinkToken(configured: "short", source: "test")
        }
        #expect(LinkToken.random() != LinkToken.random())
        #expect(LinkToken.random().value.count == 64)
    }

    @Test("A metric is written with its help, its type and escaped labels")
    func aMetricIsEscaped() {
        var family = MetricFamily("x_total", .counter, by: ["device"], "A \\ and\na line.")
        #expect(family.text.isEmpty)
        family.add(1.5, ["a\"b\\c\nd"])
        family.add(3)
        #expect(
            family.text
                == "# HELP x_total A \\\\ and\\na line.\n# TYPE x_total counter\nx_total{device=\"a\\\"b\\\\c\\nd\"} 1.5\nx_total 3\n"
        )
    }

    @Test("A histogram's buckets are cumulative, in seconds, and end with all")
    func aHistogramMetric() {
        var histogram = LatencyHistogram()
        for milliseconds in [0, 1, 1, 2_000] as [UInt64] { histogram.add(milliseconds * 1_000_000) }
        var family = MetricFamily("x_seconds", .histogram, by: ["session"], "X.")
        family.add(histogram, ["7"])
        let lines = family.text.split(separator: "\n")
        #expect(lines.prefix(2) == ["# HELP x_seconds X.", "# TYPE x_seconds histogram"])
        #expect(lines[2] == "x_seconds_bucket{session=\"7\",le=\"0.0005\"} 1")
        #expect(lines[3] == "x_seconds_bucket{session=\"7\",le=\"0.001\"} 3")
        #expect(
            lines.suffix(4) == [
                "x_seconds_bucket{session=\"7\",le=\"1\"} 3", "x_seconds_bucket{session=\"7\",le=\"+Inf\"} 4",
                "x_seconds_sum{session=\"7\"} 2.002", "x_seconds_count{session=\"7\"} 4",
            ]
        )
    }

    @Test("Gaps are counted in buckets up to 30 s, bounds included, and longer ones with all")
    func gaps() {
        var gaps = GapHistogram()
        for milliseconds in [33, 34, 1_400, 60_000] as [Int64] { gaps.add(.milliseconds(milliseconds)) }
        #expect(gaps.cumulativeCounts == [1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4])
        #expect(gaps.sum == .milliseconds(61_467))
    }

    @Test("Capture to relay counts each captured picture once, neither repeats nor what is older than the session")
    func captureLatencyCountsCapturesOnce() {
        var latency = CaptureLatency(since: 1_000_000_000)
        func take(_ captured: UInt64, _ flags: AccessUnit.Flags, at now: UInt64) {
            latency.take(accessUnit(captured: captured, flags).header, now: .uptimeNanoseconds(now))
        }
        take(900_000_000, .key, at: 1_010_000_000)
        #expect(latency.total.histogram.count == 0, "a screen that was static when the session began")
        take(1_020_000_000, [], at: 1_025_000_000)
        take(1_020_000_000, .repeat, at: 1_060_000_000)
        take(1_020_000_000, .key, at: 1_090_000_000)
        #expect(latency.total.histogram.count == 1 && latency.total.histogram.sum == 5_000_000)
        take(1_200_000_000, [], at: 1_100_000_000)
        #expect(
            latency.total.histogram.count == 2 && latency.total.histogram.sum == 5_000_000,
            "a clock ahead counts as no time"
        )
        take(1_100_000_000, [], at: 1_300_000_000)
        #expect(latency.total.histogram.count == 2, "what was captured before another is not new")
    }

    private func accessUnit(captured: UInt64, _ flags: AccessUnit.Flags) -> AccessUnit {
        AccessUnit(
            pts: 0,
            captured: captured,
            encodeStart: 0,
            encodeEnd: 0,
            flags: flags,
            size: PictureSize(width: 16, height: 16),
            bytes: [0]
        )
    }

    @Test("Seconds beyond the range of a duration are clamped, and NaN counts as 0")
    func anySeconds() {
        #expect(TimeAmount(seconds: 1.5) == .milliseconds(1500))
        #expect(TimeAmount(seconds: -1e-9) == .nanoseconds(-1))
        #expect(
            TimeAmount(seconds: 1e300) == .nanoseconds(.max) && TimeAmount(seconds: .infinity) == .nanoseconds(.max)
        )
        #expect(TimeAmount(seconds: -1e300) == .nanoseconds(.min))
        #expect(TimeAmount(seconds: .nan) == .zero)
    }

    @Test("An object that is refused without a reason is refused all the same")
    func refusalWithoutReason() {
        #expect(throws: FieldIssues.self) { try ObjectReader.read([]) { _ in Int?.none } }
    }

    @Test("A token bucket lets a burst through, then a steady rate, and never more than a burst at once")
    func aTokenBucket() {
        var bucket = TokenBucket(capacity: 3, perSecond: 10)
        func taken(_ count: Int, at milliseconds: Int64) -> Int {
            (0..<count).count { _ in bucket.take(now: at(milliseconds)) }
        }
        #expect([taken(5, at: 0), taken(5, at: 99), taken(5, at: 100), taken(5, at: 350)] == [3, 0, 1, 2])
        #expect(taken(5, at: 60_000) == 3)
    }

    @Test("A log that is full counts what is left out, and says so when it has room again")
    func aLogBudget() {
        var budget = LogBudget()
        let answers = (0..<250).map { _ in budget.take(now: at(0)) }
        #expect(answers.count { $0 == 0 } == 200)
        #expect(answers.count { $0 == nil } == 50)
        #expect(budget.take(now: at(1000)) == 50)
        #expect(budget.take(now: at(1000)) == 0)
    }
}
