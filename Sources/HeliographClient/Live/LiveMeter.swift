import Media

/// What a session's ``LiveStatistics`` are made of. A pure value: the caller has the time, in ns.
package struct LiveMeter: Sendable {
    /// The number of the latest pictures whose times count: about 20 s.
    private static let most = 600
    /// The longest possible latency, ns.
    private static let longest: Int64 = 60_000_000_000
    /// The least time for rates, ns.
    private static let leastTime: UInt64 = 1_000_000_000
    /// The least time between two acknowledgements, ns.
    private static let acknowledgementInterval: UInt64 = 100_000_000

    /// The latest durations of one kind, ns.
    private struct Durations {
        private var values: [Int64] = []
        private var next = 0

        mutating func add(_ value: Int64) {
            if values.count < most {
                values.append(value)
            } else {
                values[at: next] = value
                next = (next &+ 1) % most
            }
        }

        var latency: LiveStatistics.Latency? {
            let sorted = values.sorted()
            guard !sorted.isEmpty else { return nil }
            func percentile(_ percent: Int) -> Duration {
                let place = (sorted.count * percent + 99) / 100 - 1
                return .nanoseconds(sorted[at: max(place, 0)] ?? 0)
            }
            return LiveStatistics.Latency(
                p50: percentile(50),
                p95: percentile(95),
                p99: percentile(99),
                count: sorted.count
            )
        }
    }

    package var clock = RelayClock()
    package var feed: LiveEvent.Feed?
    package var target: EncoderTarget?
    private var (received, decoded, presented) = (Durations(), Durations(), Durations())
    private var (pictures, repeats, bytes, interruptions, impossible) = (0, 0, 0, 0, 0)
    private var acknowledged: UInt64 = 0
    /// At the last figures.
    private var last: (at: UInt64, pictures: Int, bytes: Int)
    private var rates: (time: Duration, fps: Double, bitrate: Double) = (.zero, 0, 0)

    package init(now: UInt64) { last = (now, 0, 0) }

    /// Counts a unit that has come.
    package mutating func take(_ unit: MediaUnit) {
        bytes += unit.bytes.count
        guard case .picture = unit.content else { return }
        pictures += 1
        if unit.isRepeat {
            repeats += 1
        } else if let latency = sinceCapture(of: unit, unit.received) {
            received.add(latency)
        }
    }

    package mutating func interrupted() { interruptions += 1 }

    /// Notes that a picture was decoded.
    package mutating func decoded(_ unit: MediaUnit, now: UInt64) {
        if !unit.isRepeat, now >= unit.received { decoded.add(Int64(clamping: now - unit.received)) }
    }

    /// Notes that a picture was presented.
    ///
    /// - Returns: When that was, on the relay's clock, if the program should tell the relay.
    package mutating func presented(_ unit: MediaUnit, now: UInt64) -> UInt64? {
        guard !unit.isRepeat, let latency = sinceCapture(of: unit, now) else { return nil }
        presented.add(latency)
        guard now >= acknowledged &+ Self.acknowledgementInterval else { return nil }
        acknowledged = now
        return clock.relay(now)
    }

    /// Returns the figures.
    ///
    /// - Parameter dropped: The units that were left out.
    package mutating func statistics(now: UInt64, dropped: Int) -> LiveStatistics {
        if now >= last.at &+ Self.leastTime {
            let time = Duration.nanoseconds(Int64(clamping: now - last.at))
            let seconds = Double(now - last.at) / 1e9
            rates = (time, Double(pictures - last.pictures) / seconds, Double(bytes - last.bytes) * 8 / seconds)
            last = (now, pictures, bytes)
        }
        return LiveStatistics(
            time: rates.time,
            fps: rates.fps,
            bitrate: rates.bitrate,
            captureToReceive: received.latency,
            receiveToDecode: decoded.latency,
            captureToPresent: presented.latency,
            clockOffset: clock.offset.map { (.nanoseconds($0.nanoseconds), .nanoseconds(Int64(clamping: $0.error))) },
            impossible: impossible,
            pictures: pictures,
            repeats: repeats,
            bytes: bytes,
            dropped: dropped,
            interruptions: interruptions,
            feed: feed,
            target: target
        )
    }

    /// Returns the time from a picture's capture to an instant, in ns; `nil` if the clocks are not compared, or if it
    /// cannot be.
    private mutating func sinceCapture(of unit: MediaUnit, _ instant: UInt64) -> Int64? {
        guard let captured = clock.local(unit.captured), let error = clock.offset?.error else { return nil }
        let latency = Int64(clamping: instant) &- captured
        guard latency >= -Int64(clamping: error), latency <= Self.longest else {
            impossible += 1
            return nil
        }
        return max(latency, 0)
    }
}
