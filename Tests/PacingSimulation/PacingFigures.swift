/// What a viewer sees of sessions: how many pictures, how evenly, how fresh.
package struct PacingFigures {
    /// Between slots, ns.
    private let interval: Double
    private var seconds = 0.0
    private var pictures = 0
    private var live = 0
    /// Live pictures a second of the session that had the fewest.
    package private(set) var lowestLiveRate = Double.infinity
    private var uneven = 0
    /// Sum of ages, ns.
    private var age: UInt64 = 0
    /// Between live pictures, ns.
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

    /// Live pictures a second.
    package var liveRate: Double { Double(live) / seconds }
    /// Pictures a second, live and repeats.
    package var rate: Double { Double(pictures) / seconds }
    /// The part of the gaps between live pictures that differ from the interval by more than a quarter of it.
    package var unevenShare: Double { Double(uneven) / Double(gaps.count) }
    /// Of a live picture when it leaves for the encoder, ms.
    package var meanAge: Double { Double(age) / Double(live) / 1e6 }
    /// The gap between live pictures that 1 in 100 exceed, ms.
    package var longGap: Double { Double(gaps.sorted()[gaps.count * 99 / 100]) / 1e6 }
}
