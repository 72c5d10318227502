import Pacing
import TestSupport

/// The table of docs/design/reports/pacing.md: the result of one minute's frames under different rules, 20 times.
package enum PacingTable {
    /// A source and a session.
    private struct Row {
        /// Refreshes of the screen per second.
        let refreshes: UInt64
        /// How many of how many refreshes bring a frame.
        var frames = (count: 1, of: 1)
        /// Slots per second.
        let slots: Int
        /// How early or late a frame is at most, in ms.
        let jitter: UInt64

        var title: String {
            let share = frames.of == 1 ? "" : ", \(frames.count) of \(frames.of)"
            return "\(refreshes)\(share) → \(slots) ±\(jitter) ms"
        }
    }

    private static let rows = [
        Row(refreshes: 30, slots: 30, jitter: 8), Row(refreshes: 31, slots: 30, jitter: 1),
        Row(refreshes: 60, slots: 60, jitter: 4),
        Row(refreshes: 60, slots: 60, jitter: 8), Row(refreshes: 60, slots: 30, jitter: 2),
        Row(refreshes: 42, slots: 30, jitter: 8), Row(refreshes: 26, slots: 30, jitter: 6),
        Row(refreshes: 144, slots: 60, jitter: 3), Row(refreshes: 56, slots: 30, jitter: 3),
        Row(refreshes: 60, slots: 50, jitter: 1), Row(refreshes: 60, frames: (2, 3), slots: 30, jitter: 1),
        Row(refreshes: 60, frames: (3, 4), slots: 30, jitter: 1),
    ]

    private static let seeds: UInt64 = 20
    private static let duration: UInt64 = 60_000_000_000

    /// Returns the table in Markdown, with a line break at its end.
    package static func markdown() -> String {
        var lines = [
            "| source → slots, jitter | rules | live | with repeats | uneven gaps | mean age | p99 gap |",
            "|---|---|---|---|---|---|---|",
        ]
        for row in rows {
            lines.append(line(row, "plain", repeats: false) { PlainPacer(fps: row.slots) })
            // One source whose frames never follow in time, and one whose frames may follow at any moment.
            lines.append(line(row, "never waits") { pacer(row, DueTimeGate(pace: 1_000_000_000)) })
            lines.append(line(row, "always waits") { pacer(row, DueTimeGate(pace: 0)) })
            lines.append(line(row, "**Heliograph**") { pacer(row, DueTimeGate()) })
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func pacer(_ row: Row, _ gate: DueTimeGate) -> SessionPacer<Int> {
        SessionPacer(fps: row.slots, repeats: true, gate: gate)
    }

    private static func line<Pacer: SimulatedPacer>(
        _ row: Row,
        _ rules: String,
        repeats: Bool = true,
        pacer: () -> Pacer
    ) -> String {
        var figures = PacingFigures(interval: 1e9 / Double(row.slots))
        for seed in 0..<seeds {
            let arrivals = arrivals(row, seed: seed)
            var session = SimulatedSession(pacer: pacer())
            for (frame, arrival) in arrivals.enumerated() { session.offer(frame, at: arrival) }
            figures.add(session.outputs, arrivals: arrivals)
        }
        let cells = [
            row.title,
            rules,
            "\(tenths(figures.liveRate)) (\(tenths(figures.lowestLiveRate)))",
            repeats ? tenths(figures.rate) : "",
            "\(tenths(figures.unevenShare * 100)) %",
            "\(tenths(figures.meanAge)) ms",
            "\(tenths(figures.longGap)) ms",
        ]
        return "| " + cells.joined(separator: " | ") + " |"
    }

    private static func arrivals(_ row: Row, seed: UInt64) -> [UInt64] {
        var generator = SeededGenerator(seed: seed)
        let interval = 1_000_000_000 / row.refreshes
        let refreshes = Arrivals.steady(
            rate: row.refreshes,
            jitter: row.jitter * 1_000_000,
            start: .random(in: 0..<interval, using: &generator),
            duration: duration,
            using: &generator
        )
        return refreshes.enumerated().filter { $0.offset % row.frames.of < row.frames.count }.map(\.element)
    }

    /// Returns a number with one decimal.
    private static func tenths(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
