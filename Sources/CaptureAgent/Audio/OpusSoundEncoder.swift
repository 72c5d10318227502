import COpus
package import Wire

/// An Opus encoder of stereo sound at 48 kHz, by libopus.
package final class OpusSoundEncoder {
    /// The longest packet at 256 kbit/s and 60 ms is 1,920 bytes. libopus recommends this much.
    private static let mostBytes = 4000

    private let encoder: OpaquePointer
    private var standsAlone = false
    /// How many samples the decoded sound is late, compared with the packet's.
    package let lookahead: Int

    /// - Returns: `nil` if libopus refuses.
    package init?(_ coding: SoundCoding) {
        let application = coding.isLowDelay ? OPUS_APPLICATION_RESTRICTED_LOWDELAY : OPUS_APPLICATION_AUDIO
        guard
            let encoder = opus_encoder_create(
                Int32(SoundSamples.rate),
                Int32(SoundSamples.channels),
                application,
                nil
            )
        else { return nil }
        self.encoder = encoder
        var samples: Int32 = 0
        guard copus_encoder_set_bitrate(encoder, Int32(coding.bitrate) * 1000) == OPUS_OK,
            copus_encoder_get_lookahead(encoder, &samples) == OPUS_OK
        else {
            opus_encoder_destroy(encoder)
            return nil
        }
        lookahead = Int(samples)
    }

    deinit { opus_encoder_destroy(encoder) }

    /// Encodes the samples of one packet.
    ///
    /// - Parameter standsAlone: Whether the packet must not refer to the ones before it, because the decoder does not
    ///   have them.
    /// - Returns: `nil` if libopus refuses them.
    package func encode(_ samples: SoundSamples, standsAlone: Bool = false) -> [UInt8]? {
        if standsAlone != self.standsAlone {
            guard copus_encoder_set_prediction_disabled(encoder, standsAlone ? 1 : 0) == OPUS_OK else { return nil }
            self.standsAlone = standsAlone
        }
        var packet = [UInt8](repeating: 0, count: Self.mostBytes)
        let length = opus_encode_float(
            encoder,
            samples.values,
            Int32(samples.count),
            &packet,
            Int32(Self.mostBytes)
        )
        guard length > 0 else { return nil }
        packet.removeLast(Self.mostBytes - Int(length))
        return packet
    }
}
