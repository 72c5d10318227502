import ArgumentParser
import Foundation
import TestSupport
import Wire

/// Compares the relay with a loop that only writes: one session, many viewers.
struct Load: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "A session of 30 pictures a second with many TCP viewers, beside a plain loop that writes the same bytes."
    )

    @Option(help: "Viewers, of the relay and of the loop each.")
    var viewers = 500

    @Option(help: "Of them, how many never read.")
    var silent = 20

    @Option(help: "Of them, how many read at a tenth of the rate.")
    var slow = 20

    @Option(help: "How often each is measured, in turns.")
    var rounds = 3

    @Option(help: "Length of each measurement, s.")
    var seconds = 10

    @Option(help: "Of the session, kbit/s.")
    var bitrate = 2000

    @Flag(help: "Prints one JSON object instead of a table.")
    var json = false

    /// How long pictures flow before the first measurement, s.
    private static let warmUp = 1
    private static let token = "the load's own link token"

    func run() async throws {
        let relay = try await RelayProcess(
            arguments: [
                "--state-file", "none", "--session-port-base", "0", "--max-viewers", "10000", "--max-connections",
                "20000",
                "--max-connections-per-address", "20000", "--watchdog", "3600",
                "--log-level", "warning",
            ],
            linkToken: Self.token
        )
        defer { relay.terminate() }
        let session = try await relay.startSession(["framing": "scrcpy", "bitrate": bitrate * 1000])
        let id = session.integer("id")
        let loop = try FeedingLoop()
        let empty = try Footprint(of: relay.pid).memory
        let size = Crowd.Size(viewers: viewers, silent: silent, slow: slow)
        let feed = Feed(epoch: monotonicNow(), bitrate: bitrate * 1000)
        let (relayed, looped) = (
            try Crowd(size, port: session.integer("port"), epoch: feed.epoch),
            try Crowd(size, port: loop.port, epoch: feed.epoch)
        )
        _ = try await eventually("all viewers", limit: .seconds(60)) {
            try await relay.get("/screencapture/\(id)").integer("viewers") == viewers ? true : nil
        }
        let connected = try Footprint(of: relay.pid).memory
        let agent = try FeedingAgent(port: relay.agentPort, token: Self.token, session: SessionID(id))
        var delays = (relay: [[Int64]](), loop: [[Int64]]())
        // The first pictures wait for one-time work, such as loading code into memory.
        var sent = (relay: feed.run(seconds: Self.warmUp, to: agent), loop: feed.run(seconds: Self.warmUp, to: loop))
        _ = (try await settled(relayed), try await settled(looped))
        let cpu = try ProcessClock(pid: relay.pid)
        var used: Int64 = 0
        var greatest = 0
        for round in 1...rounds {
            FileHandle.standardError.write(Data("fan-out: round \(round) of \(rounds)\n".utf8))
            let before = cpu.used
            sent.relay += feed.run(seconds: seconds, to: agent)
            used += cpu.used - before
            greatest = max(greatest, try Footprint(of: relay.pid).memory)
            delays.relay.append(try await settled(relayed))
            sent.loop += feed.run(seconds: seconds, to: loop)
            delays.loop.append(try await settled(looped))
        }
        let counters = try await relay.get("/screencapture/\(id)").object("counters").object("relay")
        let (atRelay, atLoop) = (relayed.end(), looped.end())
        agent.end()
        loop.end()
        if json {
            let figures: [String: Double] = [
                "relay p50 ms": quantile(delays.relay.flatMap { $0 }, 0.5),
                "relay p99 ms": quantile(delays.relay.flatMap { $0 }, 0.99),
                "loop p50 ms": quantile(delays.loop.flatMap { $0 }, 0.5),
                "loop p99 ms": quantile(delays.loop.flatMap { $0 }, 0.99),
                "relay cpu ms/s": Double(used) / Double(rounds * seconds) / 1e6, "relay KiB": Double(greatest),
                "relay incomplete viewers": Double(atRelay.pictures.count { $0 != sent.relay }),
                "loop incomplete viewers": Double(atLoop.pictures.count { $0 != sent.loop }),
            ]
            print(String(decoding: try JSONEncoder().encode(figures), as: UTF8.self))
            return
        }
        print("\(viewers) viewers, \(silent) of them silent and \(slow) slow; \(rounds) x \(seconds) s each\n")
        print("                 p50 ms   p99 ms   greatest   pictures at healthy viewers")
        report("relay", delays.relay.flatMap { $0 }, atRelay, sent.relay)
        report("plain loop", delays.loop.flatMap { $0 }, atLoop, sent.loop)
        let ratios = zip(delays.relay, delays.loop).map { quantile($0, 0.99) / quantile($1, 0.99) }
        print("\np99 relay / loop, by round: \(ratios.map { String(format: "%.2f", $0) }.joined(separator: ", "))")
        print("relay's CPU per second of feed: \(used / Int64(rounds * seconds) / 1_000_000) ms")
        print("relay's resident memory, KiB: empty \(empty), with viewers \(connected), greatest \(greatest)")
        print("dropped \(counters.integer("dropped")), resyncs \(counters.integer("resyncs"))")
        print("closed by the relay: \(counters.object("viewersClosed")), seen by viewers: \(atRelay.closed)")
    }

    /// The delays of a round, once the last pictures have come.
    private func settled(_ crowd: Crowd) async throws -> [Int64] {
        try await Task.sleep(for: .milliseconds(500))
        return crowd.takeDelays()
    }

    private func report(_ name: String, _ delays: [Int64], _ outcome: Crowd.Outcome, _ sent: Int) {
        let missing = outcome.pictures.count { $0 != sent }
        let numbers = String(
            format: "%9.2f %8.2f %10.2f",
            quantile(delays, 0.5),
            quantile(delays, 0.99),
            quantile(delays, 1)
        )
        print(
            "\(name.padding(toLength: 12, withPad: " ", startingAt: 0))\(numbers)   \(sent) sent; "
                + (missing == 0 && outcome.isOrdered
                    ? "all of them, in order, at each of \(outcome.pictures.count)"
                    : "\(missing) of \(outcome.pictures.count) viewers got \(Set(outcome.pictures).sorted())")
        )
    }
}

/// Returns a quantile of the delays, in ms; NaN without any.
func quantile(_ delays: [Int64], _ part: Double) -> Double {
    guard !delays.isEmpty else { return .nan }
    return Double(delays.sorted()[min(delays.count - 1, Int(Double(delays.count) * part))]) / 1e6
}
