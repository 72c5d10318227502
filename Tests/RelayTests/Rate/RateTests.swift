import HeliographAPI
import Media
import NIOCore
import Relay
import TestSupport
import Testing

@Suite("A bitrate that follows viewers")
struct RateTests {
    private static let size = PictureSize(width: 1280, height: 720)

    private static func instant(_ ms: Int) -> NIODeadline { .uptimeNanoseconds(UInt64(ms) * 1_000_000) }

    // MARK: - In simulation

    @Test("is as the table of docs/design/reports/rate.md has it; Scripts/report-tables writes it")
    func table() throws {
        try #expect(ReportTable(page: "rate").isCurrent(RateTable.markdown()))
    }

    @Test("has pictures in time again 3 s after the network became narrow, and is up again 10 s after it is wide")
    func step() throws {
        for scenario in RateTable.scenarios
        where scenario.description.hasPrefix("step") && scenario.adapt == .followSlowest {
            let simulation = RateTable.run(scenario)
            for (link, outcome) in zip(scenario.links, simulation.outcomes) {
                let latency = try #require(RateTable.latency(outcome, 0.95, in: 13..<30))
                // Besides the way itself, there and back.
                #expect(latency < 280 + 2 * link.delay, "\(scenario): \(latency) ms")
            }
            let up = simulation.settings.first { $0.at >= 30_000 && $0.1.bitrate == 6_000_000 }?.at
            #expect(try #require(up) < 40_000, "\(scenario)")
        }
    }

    @Test("keeps a narrow way busy and pictures in time for minutes")
    func minutes() throws {
        var simulation = RateSimulation([.init(rate: { $0 < 10 ? 20e6 : 2e6 })])
        simulation.run(seconds: 190)
        let late = try #require(RateTable.latency(simulation.outcomes[0], 0.95, in: 130..<190))
        let carried = RateTable.carried(simulation.outcomes[0], in: 130..<190)
        #expect(late < 200 && carried > 1.95, "\(late) ms, \(carried) Mbit/s")
    }

    @Test("is not lowered by a slow viewer if it follows the fastest, and that viewer's pictures are not late for long")
    func fastest() throws {
        let scenario = try #require(RateTable.scenarios.first { $0.adapt == .followFastest })
        let simulation = RateTable.run(scenario)
        #expect(simulation.settings.allSatisfy { $0.1.bitrate == 6_000_000 })
        let slow = try #require(RateTable.latency(simulation.outcomes[0], 0.95, in: 13..<30))
        let fast = try #require(RateTable.latency(simulation.outcomes[1], 0.95, in: 13..<30))
        #expect(slow < 1500 && fast < 100, "\(slow), \(fast)")
    }

    // MARK: - Layers

    @Test("is small for a viewer that may be sent less than half for 2 s, and whole again after growing times")
    func layers() {
        var choice = LayerChoice()
        let bitrates = LayerChoice.Bitrates(whole: 6_000_000, small: 3_000_000)
        var now = 0
        /// Returns how long it takes until the viewer watches the other layer, in ms; `nil` if not within 200 s.
        func time(_ allowed: Double) -> Int? {
            let (begin, former) = (now, choice.isSmall)
            while choice.isSmall == former, now - begin < 200_000 {
                now += 100
                choice.decide(allowed: allowed, bitrates, now: Self.instant(now))
            }
            return choice.isSmall == former ? nil : now - begin - 100
        }
        #expect(time(3_100_000) == nil)
        for wait in [5, 10, 20, 40, 80, 160, 160] {
            #expect(time(1_000_000) == 2000)
            #expect(time(2_800_000) == nil)
            #expect(time(2_900_000) == wait * 1000)
        }
        #expect(time(1_000_000) == 2000)
        // If the whole layer has less than the small one may have, that suffices.
        let poor = LayerChoice.Bitrates(whole: 2_000_000, small: 3_000_000)
        for _ in 0..<1610 {
            now += 100
            choice.decide(allowed: 1_900_000, poor, now: Self.instant(now))
        }
        #expect(!choice.isSmall)
        now += 300_000
        #expect(time(1_000_000) == 2000 && time(2_900_000) == 5000, "its trials are forgotten")
        #expect(time(1_000_000) == 2000)
        choice.becomeWhole()
        #expect(!choice.isSmall)
        // What does not last does not count.
        for _ in 0..<10 {
            for allowed in [1_000_000.0, 5_000_000] {
                now += 1500
                choice.decide(allowed: allowed, bitrates, now: Self.instant(now))
            }
        }
        #expect(!choice.isSmall)
    }

    // MARK: - The estimate

    @Test("knows how late pictures are by the one that took least lately")
    func delay() {
        var estimate = DeliveryEstimate()
        // When each was sent and came, and how late the last ones are then, in ms.
        let pictures: [(Int, Int, Int64)] = [
            (0, 20, 0), (100, 120, 0), (200, 500, 0), (510, 630, 0), (640, 760, 100), (770, 790, 0),
        ]
        for (number, (sent, came, late)) in pictures.enumerated() {
            estimate.sent(Int64(number), bytes: 1000, since: Self.instant(sent))
            estimate.arrived(Int64(number), now: Self.instant(came))
            #expect(estimate.delay(now: Self.instant(came)) == .milliseconds(late), "\(number)")
        }
    }

    @Test("counts only what arrived after a time, if there was a wait until then")
    func delaySince() {
        var estimate = DeliveryEstimate()
        for (number, came) in [20, 300, 320, 340].enumerated() {
            estimate.sent(Int64(number), bytes: 1000, since: Self.instant(number * 10))
            estimate.arrived(Int64(number), now: Self.instant(came))
        }
        #expect(estimate.delay(now: Self.instant(600)) == .milliseconds(270))
        #expect(estimate.delay(since: Self.instant(340), now: Self.instant(600)) == .zero)
        estimate.sent(4, bytes: 1000, since: Self.instant(500))
        #expect(estimate.delay(since: Self.instant(340), now: Self.instant(600)) == .milliseconds(80))
    }

    @Test("counts what is on the way if nothing arrives, and knows no viewer that says nothing")
    func silence() {
        var estimate = DeliveryEstimate()
        #expect(!estimate.isKnown(now: Self.instant(0)) && estimate.delay(now: Self.instant(0)) == .zero)
        estimate.sent(1, bytes: 1000, since: Self.instant(0))
        estimate.arrived(1, now: Self.instant(20))
        #expect(estimate.isKnown(now: Self.instant(100_000)))
        estimate.sent(2, bytes: 1000, since: Self.instant(100))
        // Neither what was never sent nor what has arrived already says anything.
        for pts: Int64 in [3, 1, .max] { estimate.arrived(pts, now: Self.instant(110)) }
        #expect(estimate.delay(now: Self.instant(1100)) == .milliseconds(980))
        #expect(!estimate.isKnown(now: Self.instant(5100)) && estimate.arrivedBytes == 1000)
    }

    @Test("is not lowered for one picture after a long rest")
    func rest() {
        var followed = FollowedViewer()
        let limits = 150_000.0...6_000_000
        for number in 0..<30 {
            followed.sent(Int64(number), bytes: 10_000, since: Self.instant(number * 33))
            followed.arrived(Int64(number), now: Self.instant(number * 33 + 20))
        }
        let moving = followed.decide(within: limits, now: Self.instant(1000))
        #expect(moving?.allowed == 6_000_000)
        followed.sent(100, bytes: 100_000, since: Self.instant(20_000))
        followed.arrived(100, now: Self.instant(20_180))
        let rested = followed.decide(within: limits, now: Self.instant(20_200))
        #expect(rested?.allowed == 6_000_000)
    }

    /// Sends a viewer a picture each 33 ms, as large as it may be, until a time in ms.
    ///
    /// - Parameter late: How long each takes besides 20 ms, in ms, by when it is sent; `nil` if none is sent.
    /// - Returns: What may be sent, bit/s, every 99 ms.
    private static func allowed(until end: Int, late: (Int) -> Int?) -> [(at: Int, rate: Double)] {
        var (estimate, rate) = (DeliveryEstimate(), ViewerRate(allowed: 2_000_000, now: Self.instant(0)))
        var underWay: [(pts: Int64, due: Int)] = []
        var decisions: [(at: Int, rate: Double)] = []
        for ms in 0..<end {
            if ms % 33 == 0, let late = late(ms) {
                estimate.sent(Int64(ms), bytes: Int(rate.allowed * 0.033 / 8), since: instant(ms))
                underWay.append((Int64(ms), ms + 20 + late))
            }
            for picture in underWay where picture.due == ms { estimate.arrived(picture.pts, now: instant(ms)) }
            underWay.removeAll { $0.due <= ms }
            guard ms % 99 == 0 else { continue }
            rate.tick(estimate, within: 150_000...6_000_000, now: instant(ms))
            decisions.append((ms, rate.allowed))
        }
        return decisions
    }

    @Test("lets the way become empty for a moment if all pictures of 4 s have waited for others")
    func emptying() throws {
        // 50 ms late is how late pictures should be.
        let decisions = Self.allowed(until: 7000) { $0 < 1000 ? 0 : 50 }
        let before = try #require(decisions.last { $0.at < 5000 })
        let after = try #require(decisions.first { $0.at > 5100 })
        let steady = decisions.filter { (2000..<5000).contains($0.at) }
        #expect(steady.allSatisfy { $0.rate == before.rate }, "\(decisions)")
        #expect(after.rate < before.rate * 0.9, "\(decisions)")
        // One that comes in time suffices.
        let found = Self.allowed(until: 7000) { $0 < 1000 || (4000..<4033).contains($0) ? 0 : 50 }
        #expect(found.allSatisfy { $0.at < 2000 || $0.rate >= before.rate }, "\(found)")
    }

    @Test("stays on a wide way if few pictures are sent, and some of them are tiny")
    func sparse() {
        var (estimate, rate) = (DeliveryEstimate(), ViewerRate(allowed: 6_000_000, now: Self.instant(0)))
        for ms in stride(from: 0, to: 120_000, by: 100) {
            // 10 Mbit/s carry 1250 bytes in each ms.
            let bytes = ms % 6000 == 0 ? 500 : Int(rate.allowed * 0.1 / 8)
            estimate.sent(Int64(ms), bytes: bytes, since: Self.instant(ms))
            estimate.arrived(Int64(ms), now: Self.instant(ms + 20 + bytes / 1250))
            rate.tick(estimate, within: 150_000...6_000_000, now: Self.instant(ms + 99))
        }
        #expect(rate.allowed > 4_500_000, "\(rate.allowed)")
    }

    @Test("changes nothing while nothing is sent, however late the last pictures were")
    func pause() throws {
        let decisions = Self.allowed(until: 60_000) { $0 < 1000 ? 0 : $0 < 7000 ? 100 : nil }
        let rested = try #require(decisions.first { $0.at > 8200 })
        #expect(rested.rate < 2_000_000)
        #expect(decisions.allSatisfy { $0.at < 8200 || $0.rate == rested.rate }, "\(decisions)")
    }

    @Test("is no less after 15 s on a way that has become longer")
    func longerWay() throws {
        let decisions = Self.allowed(until: 30_000) { $0 < 10_000 ? 0 : 100 }
        let least = try #require(decisions.filter { $0.at > 10_000 }.map(\.rate).min())
        let before = try #require(decisions.last { $0.at < 10_000 })
        let after = try #require(decisions.first { $0.at > 25_000 })
        #expect(least > before.rate * 0.4 && after.rate >= before.rate, "\(least), \(after)")
    }

    @Test("keeps what it knows of a viewer that says nothing for a while, and sends it what it takes")
    func absence() throws {
        var followed = FollowedViewer()
        let limits = 150_000.0...6_000_000
        let first = followed.decide(within: limits, now: Self.instant(0))
        #expect(first == nil)
        for number in 0..<100 { followed.sent(Int64(number), bytes: 10_000, since: Self.instant(number * 33)) }
        for number in 0..<50 { followed.arrived(Int64(number), now: Self.instant(1000 + number * 40)) }
        var votes: [FollowedViewer.Vote] = []
        for ms in stride(from: 1000, to: 9000, by: 100) {
            let vote = followed.decide(within: limits, now: Self.instant(ms))
            votes.append(try #require(vote))
            if ms == 4000 { #expect(followed.mustWait) }
        }
        let last = try #require(votes.last)
        #expect(!last.isPresent && !followed.mustWait && last.allowed < 3_000_000, "\(last)")
        #expect([last].allowed == [last.allowed])
        let another = FollowedViewer.Vote(allowed: 5_000_000, isPresent: true)
        #expect([last, another].allowed == [5_000_000])
    }

    @Test("measures what arrives, not what is sent")
    func rates() throws {
        var estimate = DeliveryEstimate()
        for number in 0..<100 { estimate.sent(Int64(number), bytes: 12_500, since: Self.instant(number)) }
        #expect(estimate.rate(now: Self.instant(100)) == nil)
        for number in 0..<50 { estimate.arrived(Int64(number), now: Self.instant(1000 + number * 50)) }
        let rate = try #require(estimate.rate(now: Self.instant(3450)))
        #expect(abs(rate - 2e6) < 1e4)
        // Nothing has arrived for half a second since.
        #expect(try #require(estimate.rate(now: Self.instant(3950))) < 1.5e6)
        // All has arrived, and then nothing was sent.
        estimate.arrived(99, now: Self.instant(4000))
        #expect(estimate.rate(now: Self.instant(4900)) != nil && estimate.rate(now: Self.instant(5100)) == nil)
    }

    // MARK: - The encoder's settings

    @Test("stays between its limits, follows whom it should, and tells only what is worth it")
    func settings() {
        var policy = RatePolicy()
        var request = SessionRequest()
        (request.bitrate, request.minBitrate) = (6_000_000, 500_000)
        func bitrate(_ adapt: Adaptation, _ allowed: [Double], at ms: Int) -> Int {
            request.adapt = adapt
            return policy.settings(of: request, allowed: allowed, in: Self.size, now: Self.instant(ms)).bitrate
        }
        #expect(bitrate(.followSlowest, [3e6, 2e6], at: 0) == 2_000_000)
        #expect(bitrate(.followFastest, [3e6, 2e6], at: 1000) == 3_000_000)
        #expect(bitrate(.followSlowest, [2.9e6], at: 2000) == 3_000_000)
        #expect(bitrate(.followSlowest, [3.5e6], at: 2100) == 3_500_000)
        #expect(bitrate(.followSlowest, [4e6], at: 2200) == 3_500_000)
        #expect(bitrate(.followSlowest, [4e6], at: 2700) == 4_000_000)
        #expect(bitrate(.followSlowest, [1], at: 2800) == 500_000)
        #expect(bitrate(.followSlowest, [1e9], at: 4000) == 6_000_000)
        #expect(bitrate(.followSlowest, [], at: 4100) == 6_000_000)
        #expect(bitrate(.fixed, [1], at: 4200) == 6_000_000)
    }

    @Test("leaves out pictures, then pixels, after 1 s, and takes them back at more than it left them out at")
    func ladder() {
        var ladder = RateLadder()
        let request = SessionRequest()
        var now = 0
        /// Has a bitrate for a time in ms.
        func step(_ bitrate: Int, for time: Int = 1000) -> [Int?] {
            _ = ladder.settings(for: bitrate, of: request, in: Self.size, now: Self.instant(now))
            now += time
            let settings = ladder.settings(for: bitrate, of: request, in: Self.size, now: Self.instant(now))
            return [settings.fps, settings.maxPixels]
        }
        let whole = Self.size.width * Self.size.height
        #expect(step(2_000_000) == [30, nil])
        #expect(step(500_000, for: 900) == [30, nil], "less for a moment")
        #expect(step(2_000_000) == [30, nil])
        #expect(step(500_000) == [15, nil])
        #expect(step(700_000) == [15, nil])
        #expect(step(1_000_000) == [30, nil])
        #expect(step(200_000) == [15, whole / 2])
        #expect(step(100_000) == [15, whole / 4])
        #expect(step(6_000_000) == [30, nil])
        var unknown = RateLadder()
        for time in [0, 2000] {
            #expect(unknown.settings(for: 100_000, of: request, in: nil, now: Self.instant(time)).fps == 30)
        }
    }
}
