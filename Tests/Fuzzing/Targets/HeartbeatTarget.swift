import Foundation
import Media
import NIOCore
import Relay
import Wire

extension FuzzTarget {
    /// Agents' figures on their way into reports and metrics.
    static let heartbeats = FuzzTarget(
        "heartbeats",
        words: [
            "\"sessions\":[", "\"session\":", "\"counters\":{", "\"unchanged\":[1,2]", "\"counts\":[", "\"sum\":",
            "18446744073709551615", "\"clock\":", "\"linkQueuedBytes\":-9223372036854775808",
        ]
    ) { input in
        var choices = Choices(input)
        var history = HeartbeatHistory()
        while !choices.isEmpty {
            let isText = choices.byte() & 1 == 0
            guard let heartbeat = isText ? read(&choices) : made(&choices) else { continue }
            let mask: SessionID = choices.number()
            var tally = RestTally()
            (tally.skipped, tally.missed) = (choices.number(), choices.number())
            (tally.keyframes, tally.bytes) = (choices.number(), choices.number())
            history.add(heartbeat, now: .uptimeNanoseconds(choices.number())) { $0 & mask == 0 ? nil : tally }
            try check(history)
        }
    }

    private static func read(_ choices: inout Choices) -> Heartbeat? {
        try? JSONDecoder().decode(Heartbeat.self, from: Data(choices.piece()))
    }

    private static func made(_ choices: inout Choices) -> Heartbeat {
        Heartbeat(
            clock: choices.number(),
            framesReceived: choices.number(),
            buffersSkipped: choices.number(),
            framesCopied: choices.number(),
            linkQueuedBytes: choices.number(),
            sessions: (0..<Int(choices.byte() & 7)).map { _ in
                var counters = SessionCounters()
                (counters.received, counters.encodedLive) = (choices.number(), choices.number())
                (counters.refined, counters.reencodedRepeats) = (choices.number(), choices.number())
                (counters.skipped, counters.missed) = (choices.number(), choices.number())
                (counters.keyframes, counters.bytes) = (choices.number(), choices.number())
                let counts = (0...LatencyHistogram.bounds.count).map { _ in choices.number() as UInt64 }
                let times = LatencyHistogram(counts: counts, sum: choices.number())
                counters.encodeTimes = times ?? counters.encodeTimes
                return SessionFigures(
                    session: choices.number(),
                    encoder: "x264",
                    size: PictureSize(width: choices.number(), height: choices.number()),
                    counters: counters,
                    linkDrops: choices.number()
                )
            },
            unchanged: (0..<Int(choices.byte() & 7)).map { _ in choices.number() }
        )
    }

    private static func check(_ history: HeartbeatHistory) throws {
        guard let latest = history.latest else { throw Violation(description: "no heartbeat") }
        let ids = latest.sessions.map(\.session)
        try require(zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 }, "sessions \(ids)")
        try require(latest.linkQueuedBytes >= 0, "\(latest.linkQueuedBytes) bytes")
        for figures in latest.sessions {
            let counters = figures.counters
            try require(history.figures(of: figures.session) == figures, "other figures of \(figures.session)")
            try require(counters.pictures >= max(counters.encodedLive, counters.repeats), "\(counters)")
            guard let rates = history.rates(of: figures.session) else { continue }
            let all = [rates.encodedLive, rates.repeats, rates.pictures, rates.bitrate, rates.encodeMilliseconds ?? 0]
            try require(all.allSatisfy { $0.isFinite && $0 >= 0 }, "\(rates)")
        }
        let device = "a \"device\"\\\n"
        let reading = RelayMetrics.AgentReading(device: device, role: .standby, heartbeat: latest)
        let text = RelayMetrics.agent([reading]).map(\.text).joined()
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let value = line.split(separator: " ").last.flatMap { Double($0) }
            try require(value.map { $0.isFinite && $0 >= 0 } == true, "no number: \(line)")
        }
    }
}
