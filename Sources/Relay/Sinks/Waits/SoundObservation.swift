import Glibc
package import Media

/// What a caller that waits for a session's sound has learnt of it. A pure value; times are PTS, in µs.
///
/// The last packet before a silence has the flag for it. Without any packet, silence is certain ``grace`` after its
/// time.
package struct SoundObservation: Sendable {
    package enum Goal: Sendable, Equatable {
        /// Sound of at least `threshold` lasts for a time.
        case sound(threshold: SoundLevel, lasting: Int64)
        /// For a time there is nothing as loud as `threshold`.
        case silence(threshold: SoundLevel, lasting: Int64)
        /// The level is measured for a time.
        case level(lasting: Int64)
    }

    package enum Verdict: Sendable, Equatable {
        /// The goal is reached. It has been so since this PTS.
        case reached(since: Int64)
        /// Nothing is known before this time, unless a packet comes.
        case due(Int64)
        /// Only a packet helps.
        case open
    }

    /// How long after its PTS a packet may come.
    package static let grace: Int64 = 300_000
    /// Sound that begins at most this long after the end of the last packet continues it.
    private static let seam: Int64 = 1_000

    private let goal: Goal
    /// Since when it has been as the goal says; `nil` while it is not, or nobody listens.
    private var begin: Int64?
    /// Where the last loud packet since then ends.
    private var end: Int64?
    /// The end of the last packet, if more must follow; `nil` in silence.
    private var knownEnd: Int64?
    /// The sum of the mean squares since then, each by its time in µs.
    private var energy = 0.0
    /// The loudest packet since then; `nil` before the first.
    package private(set) var loudest: SoundLevel?

    package init(_ goal: Goal) { self.goal = goal }

    /// Records whether an agent captures the sound. If not, all begins anew.
    package mutating func listens(_ isListening: Bool, now: Int64) {
        if case .reached = verdict(now: now) { return }
        guard isListening else { return self = Self(goal) }
        // Sound begins with a packet.
        if case .sound = goal { return }
        begin = begin ?? now
    }

    /// Takes a packet.
    ///
    /// - Parameters:
    ///   - level: `nil` if the agent does not say it, which counts as loud.
    ///   - tellsSilence: Whether it has the flag for silence, which lasts until the next packet.
    package mutating func heard(_ level: SoundLevel?, from start: Int64, to stop: Int64, tellsSilence: Bool) {
        knownEnd = tellsSilence ? nil : stop
        let level = level ?? SoundLevel(decibels: 0)
        switch goal {
        case .sound(let threshold, _):
            if case .reached = verdict(now: start) { return }
            guard level >= threshold else { return begin = nil }
            if begin == nil || start > (end ?? start) &+ Self.seam { begin = start }
            end = stop
        case .silence(let threshold, let lasting):
            // Times increase: what was silent long enough before the packet stays so.
            guard level >= threshold, let begin, start < begin &+ lasting else { return }
            self.begin = max(begin, stop)
        case .level(let lasting):
            guard let begin else { return }
            let share = min(stop, begin &+ lasting) - max(start, begin)
            guard share > 0 else { return }
            energy += pow(10, level.decibels / 10) * Double(share)
            loudest = max(level, loudest ?? level)
        }
    }

    package func verdict(now: Int64) -> Verdict {
        guard let begin else { return .open }
        switch goal {
        case .sound(_, let lasting): return (end ?? begin) - begin >= lasting ? .reached(since: begin) : .open
        case .silence(_, let lasting), .level(let lasting):
            let end = begin &+ lasting
            if let knownEnd { return knownEnd >= end ? .reached(since: begin) : .open }
            let due = end &+ Self.grace
            return now >= due ? .reached(since: begin) : .due(due)
        }
    }

    /// The mean level of the time that was measured; `nil` if all of it was silent.
    package var level: SoundLevel? {
        guard case .level(let lasting) = goal, energy > 0, lasting > 0 else { return nil }
        return SoundLevel(decibels: 10 * log10(energy / Double(lasting)))
    }
}
