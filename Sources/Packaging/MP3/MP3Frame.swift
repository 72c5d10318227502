import Media

/// The header of a frame of MPEG audio, layer III (ISO/IEC 11172-3, 2.4.1.3; ISO/IEC 13818-3, 2.4.1.3).
struct MP3Frame: Equatable {
    static let headerSize = 4

    /// Why four bytes are not such a header.
    enum Fault: Error {
        case noFrame
        /// Layer I or II.
        case otherLayer
        /// The bitrate is not told, so the length is not known.
        case freeFormat
    }

    /// In bytes, with the header.
    let size: Int
    /// Per channel.
    let samples: Int
    /// In Hz.
    let rate: Int
    let channels: Int
    /// Between the header and the data: the side information, with a checksum before it.
    let sideSize: Int

    init(_ header: UInt32) throws(Fault) {
        guard header >> 21 == 0x7FF, header >> 19 & 3 != 1 else { throw .noFrame }
        let (isFirstVersion, isHalved) = (header >> 19 & 3 == 3, header >> 19 & 3 == 0)
        guard let rate = Self.rates[at: Int(clamping: header >> 10 & 3)], header & 3 != 2 else { throw .noFrame }
        switch header >> 17 & 3 {
        case 1: break
        case 0: throw .noFrame
        default: throw .otherLayer
        }
        guard header >> 12 & 15 > 0 else { throw .freeFormat }
        let bitRates = isFirstVersion ? Self.bitRates : Self.lowBitRates
        guard let bitRate = bitRates[at: Int(clamping: header >> 12 & 15) &- 1] else { throw .noFrame }
        self.rate = isFirstVersion ? rate : isHalved ? rate / 4 : rate / 2
        samples = isFirstVersion ? 1152 : 576
        size = samples / 8 * bitRate * 1000 / self.rate &+ Int(clamping: header >> 9 & 1)
        channels = header >> 6 & 3 == 3 ? 1 : 2
        let hasChecksum = header >> 16 & 1 == 0
        sideSize = (isFirstVersion ? channels == 1 ? 17 : 32 : channels == 1 ? 9 : 17) &+ (hasChecksum ? 2 : 0)
    }

    /// Whether both belong to one stream. Bitrate, padding and the way of stereo may change.
    func continues(_ other: MP3Frame) -> Bool {
        (samples, rate, channels) == (other.samples, other.rate, other.channels)
    }

    private static let rates = [44_100, 48_000, 32_000]
    /// In kbit/s.
    private static let bitRates = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
    private static let lowBitRates = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
}
