/// The clock of the relay's machine, on this program's own. Both are monotonic, in ns.
///
/// It is found by eight questions: the relay answers between question and answer, and the shorter the way there and
/// back, the surer in its middle. A pure value: the caller sends the questions and has the time.
package struct RelayClock: Sendable {
    private static let rounds = 8
    /// How long what was found holds, ns: clocks drift by some µs in it.
    private static let validity: UInt64 = 10_000_000_000

    /// What to add to an instant of the relay, and half the way there and back, by which it may be wrong; `nil` before
    /// the first answers.
    package private(set) var offset: (nanoseconds: Int64, error: UInt64)?
    private var question = 0
    private var asked: UInt64 = 0
    private var left = 0
    private var best: (offset: Int64, trip: UInt64)?
    private var found: UInt64?

    package init() {}

    /// Begins eight questions if it is time.
    ///
    /// - Returns: The id of the question to send now; `nil` if there is none.
    package mutating func ask(now: UInt64) -> Int? {
        // Unanswered questions are given up when what they replace would be too old.
        if let found, now < found &+ Self.validity { return nil }
        found = now
        (left, best) = (Self.rounds, nil)
        return next(now)
    }

    /// Takes an answer in.
    ///
    /// - Returns: The id of the question to send now; `nil` if there is none.
    package mutating func answered(_ id: Int, relay: UInt64, now: UInt64) -> Int? {
        guard id == question, left > 0, now >= asked else { return nil }
        let trip = now &- asked
        if best.map({ trip < $0.trip }) ?? true {
            let middle = Int64(clamping: asked) &+ Int64(clamping: trip / 2)
            best = (middle &- Int64(clamping: relay), trip)
        }
        left -= 1
        if left > 0 { return next(now) }
        offset = best.map { ($0.offset, $0.trip / 2) }
        return nil
    }

    /// Returns an instant of the relay on this program's clock; `nil` until that is known.
    package func local(_ relay: UInt64) -> Int64? { offset.map { Int64(clamping: relay) &+ $0.nanoseconds } }

    /// Returns an instant of this program on the relay's clock; `nil` until that is known, or if it is before 0.
    package func relay(_ local: UInt64) -> UInt64? {
        offset.flatMap { UInt64(exactly: Int64(clamping: local) &- $0.nanoseconds) }
    }

    private mutating func next(_ now: UInt64) -> Int {
        question &+= 1
        asked = now
        return question
    }
}
