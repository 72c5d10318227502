/// A codec of a device's sound, always at 48 kHz.
package enum SoundCodec: String, Sendable, Codable, CaseIterable {
    case opus
    /// AAC-LC (ISO/IEC 14496-3), for players that do not play Opus.
    case aac

    /// Samples per second and channel, in every codec.
    package static let sampleRate: UInt32 = 48_000

    /// A packet of silence in stereo.
    package var silence: [UInt8] {
        switch self {
        case .opus: OpusPacket.silence
        case .aac: AACParameters.silence
        }
    }

    /// The duration of ``silence``, in samples.
    package var silenceDuration: UInt32 {
        switch self {
        case .opus: OpusPacket.silenceDuration
        case .aac: AACParameters.packetSamples
        }
    }

    /// The duration of the longest packet, in samples.
    package var longestPacket: UInt32 {
        switch self {
        case .opus: OpusPacket.longest
        case .aac: AACParameters.packetSamples
        }
    }

    /// Returns the duration of a packet in samples; `nil` if it is not a packet of this codec.
    package func duration(of packet: ByteReader) -> UInt32? {
        switch self {
        case .opus: OpusPacket(packet)?.duration
        case .aac: (1...AACParameters.mostBytes).contains(packet.count) ? AACParameters.packetSamples : nil
        }
    }
}
