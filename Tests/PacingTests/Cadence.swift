import Media
import Pacing
import PacingSimulation

/// The output of a session whose slot rate never changed, for checks against docs/design/pacing.md. Times are in ns.
struct Cadence {
    typealias Output = SimulatedSession<SessionPacer<Int>>.Output

    let outputs: [Output]
    let interval: Double

    init(_ outputs: [Output], fps: Int) {
        self.outputs = outputs
        interval = 1e9 / Double(fps)
    }

    /// Slot times are rounded to whole ns.
    private static let rounding = 2.0

    var slotsIncrease: Bool { zip(outputs, outputs.dropFirst()).allSatisfy { $0.slot < $1.slot } }

    /// How far pictures run ahead of the rate at most, in intervals: any `n` of them leave over at least `n - 1`
    /// intervals minus this.
    ///
    /// So a window of any length `W` holds at most `W · fps` pictures, rounded up, plus this many.
    var lead: Double { greatestRise { Double($0) * interval - Double($1) } }

    /// The most that pictures lag behind the rate, in intervals: any `n` of them leave over at most `n - 1`
    /// intervals plus this.
    var lag: Double { greatestRise { Double($1) - Double($0) * interval } }

    /// Returns the greatest rise of a value between an output and a later one, in intervals. The value is computed from
    /// an output's number and time.
    private func greatestRise(of quantity: (Int, UInt64) -> Double) -> Double {
        var (lowest, rise) = (Double.infinity, 0.0)
        for (number, output) in outputs.enumerated() {
            let value = quantity(number, output.time)
            lowest = min(lowest, value)
            rise = max(rise, value - lowest)
        }
        return max(0, rise - Self.rounding) / interval
    }

    /// Whether every picture left at most one interval before its slot and three quarters of an interval after it.
    var keepsSlots: Bool {
        outputs.allSatisfy {
            let lateness = Double($0.time) - Double($0.slot)
            return lateness >= -interval - Self.rounding && lateness <= interval * 3 / 4 + Self.rounding
        }
    }

    /// Whether each slot since the first picture had a picture or was missed. Holds only for sessions that repeat.
    var countsEverySlot: Bool {
        guard let first = outputs.firstIndex(where: \.isPicture) else { return true }
        return zip(outputs[first...], outputs[(first + 1)...]).allSatisfy { output, next in
            // Slots may have moved ahead by up to half an interval, or back by less than that.
            let slots = (Double(next.slot - output.slot) / interval + 0.51).rounded(.down)
            return UInt64(slots) == (output.isPicture ? 1 : 0) + next.missed - output.missed
        }
    }

    /// Returns the most and the fewest pictures in any window of `length` ns that starts with a picture and ends before
    /// the last.
    func range(inWindowsOf length: UInt64) -> ClosedRange<Int>? {
        var counts: [Int] = []
        var end = 0
        for (first, output) in outputs.enumerated() {
            while end < outputs.count, outputs[end].time < output.time + length { end += 1 }
            guard end < outputs.count else { break }
            counts.append(end - first)
        }
        guard let fewest = counts.min(), let most = counts.max() else { return nil }
        return fewest...most
    }
}

extension SessionCounters {
    /// Whether every frame is accounted for.
    var addsUp: Bool { received == encodedLive + gated + latchedOver + poolDrops + errors + held && held <= 2 }
}
