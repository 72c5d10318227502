/// What became of a session's frames and slots since it was added.
///
/// `received == encodedLive + gated + latchedOver + poolDrops + errors + held` at every moment.
package struct SessionCounters: Sendable, Equatable, Codable {
    /// Frames offered to the session.
    package var received: UInt64 = 0
    /// Frames encoded, once each.
    package var encodedLive: UInt64 = 0
    /// Frames that a newer one replaced while they waited for their slot.
    package var gated: UInt64 = 0
    /// Frames that a newer one replaced while they waited for the encoder.
    package var latchedOver: UInt64 = 0
    /// Frames dropped because no picture of the frame pool was free.
    package var poolDrops: UInt64 = 0
    /// Frames that could not be scaled or encoded.
    package var errors: UInt64 = 0
    /// Frames in hand: waiting, or being encoded. At most 2.
    package var held: UInt64 = 0
    /// Repeats that the encoder made.
    package var reencodedRepeats: UInt64 = 0
    /// Slots forfeited because the encoder was still busy.
    package var missed: UInt64 = 0
    package var keyframes: UInt64 = 0
    /// Encoders that failed in mid-stream and were replaced.
    package var encoderRestarts: UInt64 = 0
    /// Bytes of all access units.
    package var bytes: UInt64 = 0
    /// Time spent scaling and encoding, ns.
    package var encodeTime: UInt64 = 0

    package init() {}

    /// Pictures output, live and repeats. Saturates: the relay computes it from numbers that an agent sent.
    package var pictures: UInt64 {
        let (sum, overflow) = encodedLive.addingReportingOverflow(reencodedRepeats)
        return overflow ? .max : sum
    }
}
