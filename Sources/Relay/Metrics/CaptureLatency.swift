package import Media
package import NIOCore

/// How long a session's pictures take from their capture to the relay, in all and by stage.
///
/// Each captured frame counts once: neither its repeats nor its picture in another size, and none that was captured before the session began.
package struct CaptureLatency: Sendable {
    /// From capture to the relay.
    package private(set) var total = LatencyRecord()
    /// From capture to the beginning of its encoding, from there to its end, and from there to the relay.
    package private(set) var (wait, encode, link) = (LatencyRecord(), LatencyRecord(), LatencyRecord())
    /// When the newest frame so far was captured, monotonic ns.
    private var newest: UInt64

    /// - Parameter start: When the session began, monotonic ns.
    package init(since start: UInt64) {
        newest = start
    }

    /// Takes in a picture that has arrived.
    package mutating func take(_ accessUnit: AccessUnit, now: NIODeadline) {
        let (captured, arrived) = (accessUnit.captured, now.uptimeNanoseconds)
        guard !accessUnit.flags.contains(.repeat), captured > newest else { return }
        // A stamp ahead of the clock counts as no time, and must not outrank all that follow.
        newest = min(captured, arrived)
        // Stamps come in this order; an agent's that do not count as no time for their stage.
        let begun = min(max(accessUnit.encodeStart, newest), arrived)
        let ended = min(max(accessUnit.encodeEnd, begun), arrived)
        total.add(arrived &- newest, now: now)
        wait.add(begun &- newest, now: now)
        encode.add(ended &- begun, now: now)
        link.add(arrived &- ended, now: now)
    }
}
