/// How a session arrives at a program, and what becomes of it there.
public struct LiveStatistics: Sendable {
    /// Times from the capture of a frame on, of new pictures in the last seconds.
    public struct Latency: Sendable, Hashable {
        public let p50, p95, p99: Duration
        /// The number of pictures.
        public let count: Int
    }

    /// The time for the last figures: until then from the last ``LiveSession/statistics``, at least a second.
    public let time: Duration
    /// Pictures a second in that time.
    public let fps: Double
    /// Bits per second in that time, of pictures and sound.
    public let bitrate: Double

    /// From the capture until the program had the picture; `nil` before the clocks are compared.
    public let captureToReceive: Latency?
    /// From there until it was decoded, as ``LiveSession/decoded(_:)`` said.
    public let receiveToDecode: Latency?
    /// From the capture until it was presented, as ``LiveSession/presented(_:)`` said.
    public let captureToPresent: Latency?
    /// What to add to the clock of the relay's machine for that of this one, and by how much that may be wrong; `nil`
    /// before eight answers of the relay.
    public let clockOffset: (offset: Duration, error: Duration)?
    /// Latencies that cannot be: below 0 by more than the error, or above a minute. They are left out.
    public let impossible: Int

    /// Since the program began to watch: pictures and repeats among them, bytes, units that were left out, and lost
    /// connections.
    public let pictures: Int
    public let repeats: Int
    public let bytes: Int
    public let dropped: Int
    public let interruptions: Int
    /// Where pictures come from; `nil` before the relay has said it.
    public let feed: LiveEvent.Feed?
    /// What the encoder may take; `nil` before the relay has said it.
    public let target: EncoderTarget?
}
