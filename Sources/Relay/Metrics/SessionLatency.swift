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
    package mutating func take(_ picture: UnitHeader, now: NIODeadline) {
        let (captured, arrived) = (picture.captured, now.uptimeNanoseconds)
        guard !picture.flags.contains(.repeat), captured > newest else { return }
        // A stamp ahead of the clock counts as no time, and must not outrank all that follow.
        newest = min(captured, arrived)
        // Stamps come in this order; an agent's that do not count as no time for their stage.
        let begun = min(max(picture.encodeStart, newest), arrived)
        let ended = min(max(picture.encodeEnd, begun), arrived)
        total.add(arrived &- newest, now: now)
        wait.add(begun &- newest, now: now)
        encode.add(ended &- begun, now: now)
        link.add(arrived &- ended, now: now)
    }
}

/// How long a session's pictures take from the relay's having them to their viewers' connections.
@MediaLoop
final class HandoverLatency {
    private(set) var record = LatencyRecord()

    nonisolated init() {}

    /// One viewer's part in it. What had come before the viewer did does not count.
    struct Stopwatch {
        private let latency: HandoverLatency
        private let begin: UInt64

        @MediaLoop
        init(_ latency: HandoverLatency) {
            self.latency = latency
            begin = NIODeadline.now().uptimeNanoseconds
        }

        /// The viewer's connection has taken pictures that the relay had at these instants, monotonic ns.
        @MediaLoop
        func handedOver(_ relayed: some Sequence<UInt64>) {
            let now = NIODeadline.now()
            for instant in relayed where instant >= begin && instant <= now.uptimeNanoseconds {
                latency.record.add(now.uptimeNanoseconds &- instant, now: now)
            }
        }
    }
}

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
        case .refused: refused &+= 1
        case .passedOver: break
        }
    }
}
