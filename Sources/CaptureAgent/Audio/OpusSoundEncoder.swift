import Sound
package import Wire

/// An Opus encoder of stereo sound at 48 kHz, by libopus.
package final class OpusSoundEncoder: SoundEncoder {
    private let encoder: OpusEncoder
    package let packetSize: Int
    package var lookahead: Int { encoder.lookahead }
    package let preparation = 1

    package init(_ coding: SoundCoding) throws(SoundEncoderError) {
        do throws(OpusEncoder.Refusal) {
            encoder = try OpusEncoder(
                channels: SoundSamples.channels,
                bitrate: Int(coding.bitrate) * 1000,
                isLowDelay: coding.isLowDelay
            )
        } catch {
            throw SoundEncoderError(reason: error.reason)
        }
        packetSize = coding.packet.samples
    }

    package func encode(_ samples: SoundSamples, standsAlone: Bool) -> [UInt8]? {
        encoder.encode(samples.values, standsAlone: standsAlone)
    }
}
