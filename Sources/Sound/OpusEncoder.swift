import COpus

/// An Opus encoder at 48 kHz, by libopus.
package final class OpusEncoder {
    /// What libopus refused.
    package struct Refusal: Error {
        /// For people.
        package let reason: String
    }

    /// The longest packet at 256 kbit/s and 60 ms is 1,920 bytes. libopus recommends this much.
    private static let mostBytes = 4000

    private let encoder: OpaquePointer
    private let channels: Int
    private var standsAlone = false
    /// How many samples the decoded sound is late.
    package let lookahead: Int

    /// - Parameters:
    ///   - channels: 1 or 2.
    ///   - bitrate: Bits per second.
    ///   - isLowDelay: Whether the encoder looks ahead 2.5 ms instead of 6.5, and is less good at speech.
    package init(channels: Int, bitrate: Int, isLowDelay: Bool = false) throws(Refusal) {
        let application = isLowDelay ? OPUS_APPLICATION_RESTRICTED_LOWDELAY : OPUS_APPLICATION_AUDIO
        guard let encoder = opus_encoder_create(48_000, Int32(channels), application, nil) else {
            throw Refusal(reason: "libopus refuses to open its encoder")
        }
        (self.encoder, self.channels) = (encoder, channels)
        var samples: Int32 = 0
        guard copus_encoder_set_bitrate(encoder, Int32(bitrate)) == OPUS_OK,
            copus_encoder_get_lookahead(encoder, &samples) == OPUS_OK
        else {
            opus_encoder_destroy(encoder)
            throw Refusal(reason: "libopus refuses \(bitrate) bit/s")
        }
        lookahead = Int(samples)
    }

    deinit { opus_encoder_destroy(encoder) }

    /// Encodes the samples of one packet, the channels in turn: 2.5, 5, 10, 20, 40 or 60 ms.
    ///
    /// - Parameter standsAlone: Whether the packet must not refer to the ones before it.
    /// - Returns: `nil` if libopus refuses them.
    package func encode(_ values: [Float], standsAlone: Bool = false) -> [UInt8]? {
        if standsAlone != self.standsAlone {
            guard copus_encoder_set_prediction_disabled(encoder, standsAlone ? 1 : 0) == OPUS_OK else { return nil }
            self.standsAlone = standsAlone
        }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.mostBytes) { packet in
            guard let bytes = packet.baseAddress else { return nil }
            let length = opus_encode_float(encoder, values, Int32(values.count / channels), bytes, Int32(packet.count))
            return length > 0 ? Array(packet.prefix(Int(length))) : nil
        }
    }
}
