/// What viewers of sessions see: how many pictures, how evenly spaced, how fresh.
package struct PacingFigures {
    /// The interval between slots, in ns.
    private let interval: Double
    private var seconds = 0.0
    private var pictures = 0
    private var live = 0
    /// Live pictures per second of the session with the fewest.
    package private(set) var lowestLiveRate = Double.infinity
    private var uneven = 0
    /// The sum of ages, in ns.
    private var age: UInt64 = 0
    /// The gaps between live pictures, in ns.
    private var gaps: [UInt64] = []

    package init(interval: Double) {
        self.interval = interval
    }

    package mutating func add<Pacer>(_ outputs: [SimulatedSession<Pacer>.Output], arrivals: [UInt64]) {
        guard let first = arrivals.first, let last = arrivals.last else { return }
        let duration = Double(last - first) / 1e9
        let count = outputs.count { $0.frame != nil }
        seconds += duration
        pictures += outputs.count
        live += count
        lowestLiveRate = min(lowestLiveRate, Double(count) / duration)
        var former: UInt64?
        for output in outputs {
            guard let frame = output.frame else { continue }
            age += output.time - arrivals[frame]
            if let former {
                let gap = output.time - former
                gaps.append(gap)
                if abs(Double(gap) - interval) > interval / 4 { uneven += 1 }
            }
            former = output.time
        }
    }

    /// Live pictures per second.
    package var liveRate: Double { Double(live) / seconds }
    /// Pictures per second, live and repeats.
    package var rate: Double { Double(pictures) / seconds }
    /// The share of gaps between live pictures that differ from the interval by more than a quarter of it.
    package var unevenShare: Double { Double(uneven) / Double(gaps.count) }
    /// The mean age of a live picture when it leaves for the encoder, in ms.
    package var meanAge: Double { Double(age) / Double(live) / 1e6 }
    /// The gap between live pictures that 1 in 100 gaps exceed, in ms.
    package var longGap: Double { Double(gaps.sorted()[gaps.count * 99 / 100]) / 1e6 }
}
