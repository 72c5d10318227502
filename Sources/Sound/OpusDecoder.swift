import COpus

/// An Opus decoder at 48 kHz, by libopus.
package final class OpusDecoder {
    /// The longest packet, in samples of one channel: 120 ms (RFC 6716, 2.1.4).
    private static let longest = 5760

    private let decoder: OpaquePointer
    private let channels: Int

    /// - Parameter channels: 1 or 2. A packet of the other number is mixed down, or doubled.
    /// - Returns: `nil` if libopus refuses.
    package init?(channels: Int) {
        guard let decoder = opus_decoder_create(48_000, Int32(channels), nil) else { return nil }
        (self.decoder, self.channels) = (decoder, channels)
    }

    deinit { opus_decoder_destroy(decoder) }

    /// Decodes a packet. The channels come in turn.
    ///
    /// - Returns: `nil` if it is damaged.
    package func decode(_ packet: [UInt8]) -> [Float]? {
        guard let length = Int32(exactly: packet.count) else { return nil }
        var values = [Float](repeating: 0, count: Self.longest * channels)
        let count = opus_decode_float(decoder, packet, length, &values, Int32(Self.longest), 0)
        guard count > 0 else { return nil }
        values.removeLast(values.count - Int(count) * channels)
        return values
    }

    /// Forgets the packets before, because the next one does not continue them.
    package func reset() { copus_decoder_reset(decoder) }
}
