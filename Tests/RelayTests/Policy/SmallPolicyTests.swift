import Media
import NIOCore
import Relay
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

    private func heartbeat(clock: UInt64, frames: UInt64, live: UInt64, repeats: UInt64, bytes: UInt64, encode: UInt64)
        -> Heartbeat
    {
        var counters = SessionCounters()
        counters.encodedLive = live
        counters.reencodedRepeats = repeats
        counters.bytes = bytes
        counters.encodeTime = encode
        let figures = SessionFigures(session: 7, encoder: "x264", size: nil, counters: counters, linkDrops: 0)
        return Heartbeat(
            clock: clock,
            framesReceived: frames,
            buffersSkipped: 0,
            framesCopied: 0,
            linkQueuedBytes: 0,
            sessions: [figures]
        )
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

    @Test("A configured token is long enough, and white space is no part of it")
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
        var family = MetricFamily("x_total", .counter, "A \\ and\na line.")
        #expect(family.text.isEmpty)
        family.add(1.5, [("device", "a\"b\\c\nd")])
        family.add(3)
        #expect(
            family.text
                == "# HELP x_total A \\\\ and\\na line.\n# TYPE x_total counter\nx_total{device=\"a\\\"b\\\\c\\nd\"} 1.5\nx_total 3\n"
        )
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
