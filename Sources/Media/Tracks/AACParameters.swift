/// What a player must know about an AAC-LC stream at 48 kHz.
///
/// A packet is one `raw_data_block` (ISO/IEC 14496-3, 4.4.2.1).
package struct AACParameters: Sendable, Hashable {
    /// The samples of every packet.
    package static let packetSamples: UInt32 = 1024
    /// The most bytes of a packet: an ADTS header gives the length of both in 13 bits.
    package static let mostBytes = 1 << 13 - 1 - 7
    /// `samplingFrequencyIndex` of 48 kHz (table 1.16).
    package static let frequencyIndex: UInt8 = 3

    /// The number of channels, 1 or 2. It is also the `channelConfiguration` (table 1.17).
    package let channels: UInt8

    /// A device's sound.
    package static let stereo = Self(valid: 2)

    /// - Returns: `nil` unless there are one or two channels.
    package init?(channels: UInt8) {
        guard (1...2).contains(channels) else { return nil }
        self.init(valid: channels)
    }

    private init(valid channels: UInt8) { self.channels = channels }

    /// A packet of digital silence in stereo: a pair of channels without a scale factor band, which follow the same
    /// window, and the end (tables 4.4 to 4.6).
    package static let silence: [UInt8] = [0x21, 0x10, 0x04, 0x60, 0x8C, 0x1C]
}
