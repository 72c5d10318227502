import NIOCore

/// How long a session's pictures take from their capture until viewers present them, as viewers say and ``PresentationLedger`` believes.
@MediaLoop
final class PresentationLatency {
    private(set) var record = LatencyRecord()
    /// How often a viewer told an instant that cannot be.
    private(set) var refused: UInt64 = 0

    nonisolated init() {}

    func take(_ verdict: PresentationLedger.Verdict, now: NIODeadline) {
        switch verdict {
        case .counts(let time): record.add(time, now: now)
        case .refused: refused += 1
        case .passedOver: break
        }
    }
}
