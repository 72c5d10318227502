/// Counts of a session's frames and slots since it was added.
///
/// At every moment, `received == encodedLive + gated + latchedOver + poolDrops + errors + held`.
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
    /// Frames that are waiting or being encoded. At most 2.
    package var held: UInt64 = 0
    /// Repeats that the encoder made while the picture settled.
    package var refined: UInt64 = 0
    /// Repeats that the encoder made although the picture had settled, because the stream allows no others or a
    /// keyframe was due.
    package var reencodedRepeats: UInt64 = 0
    /// Repeats made without the encoder: skip pictures, and keyframes that are sent again.
    package var skipped: UInt64 = 0
    /// Slots without a picture although the session repeats: the encoder was busy, woke late or failed.
    ///
    /// Once a picture has left, `encodedLive + repeats + missed` is the number of slots since the first picture.
    package var missed: UInt64 = 0
    package var keyframes: UInt64 = 0
    /// Encoders that failed while streaming and were replaced.
    package var encoderRestarts: UInt64 = 0
    /// The bytes of all access units.
    package var bytes: UInt64 = 0
    /// How long scaling and encoding took for each picture that the encoder made; there are ``encoded`` of them.
    package var encodeTimes = LatencyHistogram()

    package init() {}

    /// Repeats of all kinds. Saturates like ``pictures``, because the relay adds up numbers that an agent sent.
    package var repeats: UInt64 { Self.sum([refined, reencodedRepeats, skipped]) }

    /// Pictures that the encoder made.
    package var encoded: UInt64 { Self.sum([encodedLive, refined, reencodedRepeats]) }

    /// Pictures output, live and repeats.
    package var pictures: UInt64 { Self.sum([encodedLive, repeats]) }

    /// Adds the pictures that the relay made while the session rested. Saturates.
    package mutating func add(_ rests: RestTally) {
        skipped = Self.sum([skipped, rests.skipped])
        missed = Self.sum([missed, rests.missed])
        keyframes = Self.sum([keyframes, rests.keyframes])
        bytes = Self.sum([bytes, rests.bytes])
    }

    private static func sum(_ numbers: [UInt64]) -> UInt64 {
        numbers.reduce(0) { sum, number in
            let (next, overflow) = sum.addingReportingOverflow(number)
            return overflow ? .max : next
        }
    }
}

/// What the relay made of a session's slots while the session rested.
package struct RestTally: Sendable, Equatable {
    /// Pictures, including keyframes that were sent again.
    package var skipped: UInt64 = 0
    package var missed: UInt64 = 0
    package var keyframes: UInt64 = 0
    package var bytes: UInt64 = 0

    package init() {}
}
