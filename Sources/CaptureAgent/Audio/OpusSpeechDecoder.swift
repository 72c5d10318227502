import COpus

/// An Opus decoder of one channel at 48 kHz, by libopus.
final class OpusSpeechDecoder {
    /// The longest packet, in samples: 120 ms.
    private static let longest = 5760

    private let decoder: OpaquePointer

    /// - Returns: `nil` if libopus refuses.
    init?() {
        guard let decoder = opus_decoder_create(Int32(SoundSamples.rate), 1, nil) else { return nil }
        self.decoder = decoder
    }

    deinit { opus_decoder_destroy(decoder) }

    /// Decodes a packet.
    ///
    /// - Returns: `nil` if it is damaged.
    func decode(_ packet: [UInt8]) -> [Float]? {
        var samples = [Float](repeating: 0, count: Self.longest)
        let count = opus_decode_float(decoder, packet, Int32(packet.count), &samples, Int32(Self.longest), 0)
        guard count > 0 else { return nil }
        samples.removeLast(Self.longest - Int(count))
        return samples
    }

    /// Forgets the packets before, because the next one is of another speaker.
    func reset() { copus_decoder_reset(decoder) }
}
