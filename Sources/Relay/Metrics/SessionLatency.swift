package import Media
package import NIOCore

/// The latency of a session's pictures from their capture to the relay, in total and by stage.
///
/// Each captured frame counts once. Repeats, the same frame in another size, and frames captured before the session
/// began do not count.
package struct CaptureLatency: Sendable {
    /// The time from capture to the relay.
    package private(set) var total = LatencyRecord()
    /// The times from capture to the start of encoding, from there to its end, and from there to the relay.
    package private(set) var (wait, encode, link) = (LatencyRecord(), LatencyRecord(), LatencyRecord())
    /// The capture time of the newest frame, monotonic ns.
    private var newest: UInt64

    /// Creates the latency of a session.
    ///
    /// - Parameter start: When the session began, monotonic ns.
    package init(since start: UInt64) {
        newest = start
    }

    /// Adds a picture that has arrived.
    package mutating func take(_ picture: UnitHeader, now: NIODeadline) {
        let (captured, arrived) = (picture.captured, now.uptimeNanoseconds)
        guard !picture.flags.contains(.repeat), captured > newest else { return }
        // A timestamp ahead of the clock counts as no time, and must not outrank all later ones.
        newest = min(captured, arrived)
        // Timestamps should be in this order. If an agent's are not, their stage counts as no time.
        let begun = min(max(picture.encodeStart, newest), arrived)
        let ended = min(max(picture.encodeEnd, begun), arrived)
        total.add(arrived &- newest, now: now)
        wait.add(begun &- newest, now: now)
        encode.add(ended &- begun, now: now)
        link.add(arrived &- ended, now: now)
    }
}

/// The latency of a session's pictures from their arrival at the relay to their viewers' connections.
@MediaLoop
final class HandoverLatency {
    private(set) var record = LatencyRecord()

    nonisolated init() {}

    /// One viewer's measurements. Pictures that arrived before the viewer do not count.
    struct Stopwatch {
        private let latency: HandoverLatency
        private let begin: UInt64

        @MediaLoop
        init(_ latency: HandoverLatency) {
            self.latency = latency
            begin = NIODeadline.now().uptimeNanoseconds
        }

        /// Records that the viewer's connection has taken pictures that arrived at these instants, monotonic ns.
        @MediaLoop
        func handedOver(_ relayed: some Sequence<UInt64>) {
            let now = NIODeadline.now()
            for instant in relayed where instant >= begin && instant <= now.uptimeNanoseconds {
                latency.record.add(now.uptimeNanoseconds &- instant, now: now)
            }
        }
    }
}

/// The latency of a session's pictures from their capture until viewers present them. Viewers report it, and
/// ``PresentationLedger`` checks it.
@MediaLoop
final class PresentationLatency {
    private(set) var record = LatencyRecord()
    /// How often a viewer reported an impossible instant.
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
