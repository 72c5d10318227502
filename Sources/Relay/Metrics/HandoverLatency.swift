import NIOCore

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
                latency.record.add(now.uptimeNanoseconds - instant, now: now)
            }
        }
    }
}
