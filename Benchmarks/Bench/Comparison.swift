import Foundation

/// The samples of a run, and the table that comes of them.
struct Comparison {
    private var agent = Samples()
    private var encode = Samples()
    private var loops: [LimitLoop.Variant: Samples] = [:]
    private var ratio = Samples()
    private var viewerLatency = Samples()
    private var loopLatency = Samples()
    private var movingIdle = Samples()
    private var idle = Samples()
    private var still = Samples()
    private var stillEncoded = 0

    mutating func add(_ moving: AgentBench.Moving) {
        agent.append(moving.cpuPerPicture)
        encode.append(moving.encode)
        for latency in moving.latencyNs { viewerLatency.append(Double(latency) / 1e6) }
    }

    mutating func add(_ loop: LimitLoop, _ variant: LimitLoop.Variant) {
        loops[variant, default: Samples()].append(loop.cpuPerPicture)
        guard variant == .own else { return }
        // Of one round, so that both met the same neighbours.
        if let last = agent.values.last { ratio.append(last / loop.cpuPerPicture) }
        for latency in loop.latencyNs { loopLatency.append(Double(latency) / 1e6) }
    }

    mutating func addMovingIdle(_ cpu: Double) { movingIdle.append(cpu) }

    mutating func addIdle(_ cpu: Double) { idle.append(cpu) }

    mutating func addStill(_ sample: (cpu: Double, encoded: Int)) {
        still.append(sample.cpu)
        stillEncoded += sample.encoded
    }

    func report(_ workload: Workload) -> String {
        var lines = [
            "\(workload.size) at \(workload.fps), \(agent.values.count) rounds of \(workload.seconds) s: median (least to greatest)",
            "",
            "CPU of a moving picture, ms",
            line("agent", agent),
            line("limit loop", loops[.own]),
            line("limit loop, libyuv's colours", loops[.libyuv]),
            line("agent / limit loop, by round", ratio),
            line("of the agent: time in its encoder thread", encode),
            "",
            "latency of a moving picture, ms: p50, p99",
            quantiles("producer's stamp to viewer", viewerLatency),
            quantiles("limit loop: stamp to encoded", loopLatency),
        ]
        if !still.values.isEmpty {
            lines += [
                "",
                "CPU in a second, ms",
                line("agent without a session, still", idle),
                line("agent without a session, moving", movingIdle),
                line("agent with a still session", still),
                line("limit loop, the still picture encoded", perSecond(loops[.still], workload)),
                line("bare loop, a small packet for each slot", perSecond(loops[.packets], workload)),
                quotient("still session less idle / the encoding loop", of: .still, workload),
                quotient("still session less idle / the packet loop", of: .packets, workload),
                "  pictures that the encoder made in the still seconds: \(stillEncoded)",
            ]
        }
        return lines.joined(separator: "\n")
    }

    private func quotient(_ name: String, of variant: LimitLoop.Variant, _ workload: Workload) -> String {
        let value = (still.median - idle.median) / (perSecond(loops[variant], workload)?.median ?? .nan)
        return "  " + name.padding(toLength: 44, withPad: " ", startingAt: 0) + String(format: "%8.4f", value)
    }

    private func perSecond(_ samples: Samples?, _ workload: Workload) -> Samples? {
        samples.map { samples in
            samples.values.reduce(into: Samples()) { $0.append($1 * Double(workload.fps)) }
        }
    }

    private func line(_ name: String, _ samples: Samples?) -> String {
        "  " + name.padding(toLength: 44, withPad: " ", startingAt: 0) + (samples?.summary ?? "none")
    }

    private func quantiles(_ name: String, _ samples: Samples) -> String {
        "  " + name.padding(toLength: 44, withPad: " ", startingAt: 0)
            + String(format: "%8.3f  %8.3f", samples.quantile(0.5), samples.quantile(0.99))
    }
}
