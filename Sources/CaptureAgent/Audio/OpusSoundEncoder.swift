import COpus
package import Wire

/// An Opus encoder of stereo sound at 48 kHz, by libopus.
package final class OpusSoundEncoder: SoundEncoder {
    /// The longest packet at 256 kbit/s and 60 ms is 1,920 bytes. libopus recommends this much.
    private static let mostBytes = 4000

    private let encoder: OpaquePointer
    private var standsAlone = false
    package let packetSize: Int
    package let lookahead: Int
    package let preparation = 1

    package init(_ coding: SoundCoding) throws(SoundEncoderError) {
        let application = coding.isLowDelay ? OPUS_APPLICATION_RESTRICTED_LOWDELAY : OPUS_APPLICATION_AUDIO
        guard
            let encoder = opus_encoder_create(
                Int32(SoundSamples.rate),
                Int32(SoundSamples.channels),
                application,
                nil
            )
        else { throw SoundEncoderError(reason: "libopus refuses to open its encoder") }
        self.encoder = encoder
        packetSize = coding.packet.samples
        var samples: Int32 = 0
        guard copus_encoder_set_bitrate(encoder, Int32(coding.bitrate) * 1000) == OPUS_OK,
            copus_encoder_get_lookahead(encoder, &samples) == OPUS_OK
        else {
            opus_encoder_destroy(encoder)
            throw SoundEncoderError(reason: "libopus refuses \(coding.bitrate) kbit/s")
        }
        lookahead = Int(samples)
    }

    deinit { opus_encoder_destroy(encoder) }

    package func encode(_ samples: SoundSamples, standsAlone: Bool) -> [UInt8]? {
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
