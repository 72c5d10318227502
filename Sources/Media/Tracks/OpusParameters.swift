/// What a player must know about an Opus stream: the relevant fields of its identification header (RFC 7845, section
/// 5.1).
package struct OpusParameters: Sendable, Hashable {
    /// The clock rate of every Opus stream, in Hz (RFC 7845, section 4).
    package static let sampleRate: UInt32 = 48_000

    /// The number of channels, 1 or 2 (channel mapping family 0).
    package let channels: UInt8
    /// The number of samples at the start that a player must discard.
    package let preSkip: UInt16

    /// Returns how many samples a time in µs has.
    package static func samples(of microseconds: Int64) -> Int64 {
        let (periods, rest) = microseconds.quotientAndRemainder(dividingBy: 125)
        return periods &* 6 &+ (rest &* 6 &+ 62) / 125
    }

    /// Two channels, and nothing to discard.
    package static let stereo = Self(valid: 2, preSkip: 0)

    /// - Returns: `nil` unless there are one or two channels.
    package init?(channels: UInt8, preSkip: UInt16) {
        guard (1...2).contains(channels) else { return nil }
        self.init(valid: channels, preSkip: preSkip)
    }

    private init(valid channels: UInt8, preSkip: UInt16) { (self.channels, self.preSkip) = (channels, preSkip) }
}

/// The table of contents of one Opus packet (RFC 6716, section 3.1).
package struct OpusPacket: Sendable {
    /// The packet's duration, in samples at 48 kHz.
    package let duration: UInt32

    /// The packet's duration, in µs.
    package var microseconds: Int64 { Int64(clamping: duration) &* 125 / 6 }

    /// The packet's duration in whole ms, rounded up.
    package var milliseconds: Int { Int(clamping: (duration &+ 47) / 48) }

    /// The longest packet, in samples: 120 ms.
    package static let longest: UInt32 = 5760
    /// A packet of silence in stereo: one CELT frame with the silence flag (sections 3.1 and 4.3).
    package static let silence: [UInt8] = [0xFC, 0xFF, 0xFE]
    /// The duration of ``silence``, in samples: 20 ms.
    package static let silenceDuration: UInt32 = 960
    /// The most bytes of a packet: 120 ms at 510 kbit/s, the highest bitrate, are 7,650.
    private static let mostBytes = 8192

    /// - Returns: `nil` if the packet is empty or longer than allowed.
    package init?(_ packet: ByteReader) {
        var rest = packet
        guard packet.count <= Self.mostBytes, let contents = rest.u8() else { return nil }
        let frame = Self.frameDuration(configuration: contents >> 3)
        let frames: UInt32
        switch contents & 3 {
        case 0: frames = 1
        case 1, 2: frames = 2
        default:
            guard let count = rest.u8() else { return nil }
            frames = UInt32(clamping: count & 0x3F)
        }
        duration = frames &* frame
        guard (1...Self.longest).contains(duration) else { return nil }
    }

    /// Returns the number of samples of one frame (table 2).
    private static func frameDuration(configuration: UInt8) -> UInt32 {
        switch configuration {
        // SILK: 10, 20, 40 and 60 ms.
        case 0..<12: [480, 960, 1920, 2880][at: Int(clamping: configuration & 3)] ?? 0
        // Hybrid: 10 and 20 ms.
        case 12..<16: configuration & 1 == 0 ? 480 : 960
        // CELT: 2.5 to 20 ms.
        default: 120 << UInt32(clamping: configuration & 3)
        }
    }
}
