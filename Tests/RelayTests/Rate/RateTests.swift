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
        for scenario in RateTable.scenarios where scenario.description.hasPrefix("step") {
            let simulation = RateTable.run(scenario)
            let isFastest = scenario.adapt == .followFastest
            for (link, outcome) in zip(scenario.links, simulation.outcomes).dropFirst(
                isFastest ? 1 : 0
            ) {
                let latency = try #require(RateTable.latency(outcome, 0.95, in: 13..<30))
                // Besides the way itself, there and back.
                #expect(latency < 280 + 2 * link.delay, "\(scenario): \(latency) ms")
            }
            let up = simulation.settings.first { $0.at >= 30_000 && $0.1.bitrate == 6_000_000 }?.at
            #expect(try #require(up) < 40_000, "\(scenario)")
        }
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
        #expect(estimate.rates(now: Self.instant(100)) == nil)
        for number in 0..<50 { estimate.arrived(Int64(number), now: Self.instant(1000 + number * 50)) }
        let rates = try #require(estimate.rates(now: Self.instant(3450)))
        #expect(abs(rates.present - 2e6) < 1e4 && abs(rates.second - 2e6) < 1e4, "\(rates)")
        // Nothing has arrived for half a second since.
        let later = try #require(estimate.rates(now: Self.instant(3950)))
        #expect(later.second < 1.5e6, "\(later)")
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

    @Test("leaves out pictures, then pixels, and takes them back later than it left them out")
    func ladder() {
        var ladder = RateLadder()
        let request = SessionRequest()
        func step(_ bitrate: Int) -> [Int?] {
            let settings = ladder.settings(for: bitrate, of: request, in: Self.size)
            return [settings.fps, settings.maxPixels]
        }
        let whole = Self.size.width * Self.size.height
        #expect(step(2_000_000) == [30, nil])
        #expect(step(500_000) == [15, nil])
        #expect(step(700_000) == [15, nil])
        #expect(step(1_000_000) == [30, nil])
        #expect(step(200_000) == [15, whole / 2])
        #expect(step(100_000) == [15, whole / 4])
        #expect(step(6_000_000) == [30, nil])
        var unknown = RateLadder()
        #expect(unknown.settings(for: 100_000, of: request, in: nil).fps == 30)
    }
}
