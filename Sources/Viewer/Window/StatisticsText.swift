import CommandSupport
import HeliographClient

/// The statistics that the window shows.
enum StatisticsText {
    /// - Parameters:
    ///   - sound: What is known of the loudspeaker; `nil` while nothing is played.
    ///   - drawing: What draws the window.
    static func text(
        _ statistics: LiveStatistics,
        _ facts: SessionFacts?,
        name: String,
        sound: String?,
        drawing: String
    ) -> String {
        let report = ArrivalReport(statistics)
        var lines = [name + (facts.map { ": session \($0.session), \($0.codec), \($0.fps) fps" } ?? "")]
        lines.append(report.text.replacing(", capture to here", with: "\ncapture to here:"))
        if let latency = report.receiveToDecode { lines.append("here to decoded: \(latency.text)") }
        if let latency = report.captureToPresent { lines.append("capture to window: \(latency.text)") }
        if let error = report.clockErrorMs { lines.append("clocks compared to \(Figure.text(error, places: 2)) ms") }
        if let target = statistics.target, target.adapts {
            let bitrate = Figure.text(Double(target.bitrate) / 1e6, places: 2)
            lines.append("the bitrate follows viewers: \(bitrate) Mbit/s at most, \(target.fps) fps")
        }
        if let feed = report.feed { lines.append("pictures from: \(feed)") }
        if let sound { lines.append("sound: \(sound)") }
        lines.append("drawn by \(drawing)")
        return lines.joined(separator: "\n")
    }
}
