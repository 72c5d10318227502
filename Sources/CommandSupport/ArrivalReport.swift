package import HeliographClient

/// How a session arrives: ``LiveStatistics`` as JSON and as text. Times are in ms.
package struct ArrivalReport: Encodable {
    /// Percentiles of a time, and of how many pictures.
    package struct Latency: Encodable {
        let p50Ms: Double
        let p95Ms: Double
        let p99Ms: Double
        let pictures: Int

        init(_ latency: LiveStatistics.Latency) {
            (p50Ms, p95Ms, p99Ms) = (latency.p50.milliseconds, latency.p95.milliseconds, latency.p99.milliseconds)
            pictures = latency.count
        }
    }

    /// Pictures a second, and bit/s, in the last second.
    let fps: Double
    let bitrate: Int
    /// `nil` before the clocks are compared.
    let captureToReceive: Latency?
    /// Only of programs that decode and present.
    package let receiveToDecode: Latency?
    package let captureToPresent: Latency?
    /// What to add to the relay's clock for this machine's, and by how much that may be wrong.
    let clockOffsetMs: Double?
    package let clockErrorMs: Double?
    /// Since the beginning.
    let pictures: Int
    let repeats: Int
    let bytes: Int
    let dropped: Int
    let interruptions: Int
    let impossible: Int
    package let feed: String?

    package init(_ statistics: LiveStatistics) {
        (fps, bitrate) = (statistics.fps, Int(statistics.bitrate))
        captureToReceive = statistics.captureToReceive.map(Latency.init)
        receiveToDecode = statistics.receiveToDecode.map(Latency.init)
        captureToPresent = statistics.captureToPresent.map(Latency.init)
        clockOffsetMs = statistics.clockOffset?.offset.milliseconds
        clockErrorMs = statistics.clockOffset?.error.milliseconds
        (pictures, repeats, bytes) = (statistics.pictures, statistics.repeats, statistics.bytes)
        (dropped, interruptions) = (statistics.dropped, statistics.interruptions)
        impossible = statistics.impossible
        feed = statistics.feed?.rawValue
    }

    package var text: String {
        var words = [
            "\(Figure.text(fps)) pictures/s", "\(Figure.text(Double(bitrate) / 1e6)) Mbit/s",
            "\(repeats) repeats", "\(dropped) left out",
        ]
        if interruptions > 0 { words.append("\(interruptions) interruptions") }
        if let latency = captureToReceive { words.append("capture to here \(latency.text)") }
        return words.joined(separator: ", ")
    }
}

extension ArrivalReport.Latency {
    /// The percentiles, for people.
    package var text: String { [p50Ms, p95Ms, p99Ms].map { Figure.text($0) }.joined(separator: ", ") + " ms" }
}

extension Duration {
    fileprivate var milliseconds: Double { self / .milliseconds(1) }
}
