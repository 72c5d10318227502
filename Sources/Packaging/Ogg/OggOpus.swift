package import Media

/// A muxer for an Ogg stream of one Opus track (RFC 7845).
///
/// The stream may begin in the middle of the sound, so players discard its first 80 ms, in which a decoder converges
/// (section 4.2).
package struct OggOpus: Sendable {
    /// The samples at the start that a player discards.
    package static let preSkip: UInt16 = 3840
    /// How far a packet's time may be from the end of the one before, in samples: 1 ms. Times in µs are not exact.
    private static let tolerance: Int64 = 48

    private let channels: UInt8
    private let serial: UInt32
    /// The PTS of the stream's beginning, µs.
    private let origin: Int64
    /// The end of the last page, in samples.
    private var position: Int64 = 0
    private var sequence: UInt32 = 2

    /// Creates a muxer.
    ///
    /// - Parameters:
    ///   - channels: 1 or 2.
    ///   - serial: Distinguishes streams that are put together in one file.
    ///   - origin: The PTS of the stream's beginning, µs. No packet may begin earlier.
    package init(channels: UInt8, serial: UInt32, origin: Int64) {
        (self.channels, self.serial, self.origin) = (channels, serial, origin)
    }

    /// The two pages of header before all others.
    package var header: [UInt8] {
        let vendor = Array("Heliograph".utf8)
        let identification = Self.identification(channels: channels, preSkip: Self.preSkip)
        let comment = [UInt8](byteCount: 16 + vendor.count) { writer in
            writer.put(Array("OpusTags".utf8))
            writer.put(littleEndian: UInt32(clamping: vendor.count))
            writer.put(vendor)
            writer.put(littleEndian: UInt32(0))  // comments
        }
        let first = OggPage(.beginning, position: 0, serial: serial, sequence: 0, packets: [identification])
        return first.bytes + OggPage(position: 0, serial: serial, sequence: 1, packets: [comment]).bytes
    }

    /// Returns the identification header of a stream (section 5.1), which players of other formats want, too.
    package static func identification(channels: UInt8, preSkip: UInt16) -> [UInt8] {
        [UInt8](byteCount: 19) { writer in
            writer.put(Array("OpusHead".utf8))
            writer.put(1)  // version
            writer.put(channels)
            writer.put(littleEndian: preSkip)
            writer.put(littleEndian: OpusParameters.sampleRate)
            writer.put(littleEndian: UInt16(0))  // gain
            writer.put(0)  // mapping family
        }
    }

    /// Returns a page with packets that follow each other without a gap. There may be a gap before them, which players
    /// know from the page's position.
    ///
    /// - Parameter pts: The first packet's PTS, µs.
    /// - Throws: ``PackagingError/noPacket`` if one is not of Opus, and ``PackagingError/tooLarge`` if a page has no
    ///   room for them.
    package mutating func page(of packets: [some MediaBytes], at pts: Int64) throws(PackagingError) -> OggPage {
        guard OggPage.hasRoom(for: packets) else { throw .tooLarge }
        var duration: Int64 = 0
        for packet in packets {
            guard let contents = packet.read({ OpusPacket($0) }) else { throw .noPacket }
            duration &+= Int64(clamping: contents.duration)
        }
        let (time, overflow) = pts.subtractingReportingOverflow(origin)
        let due = overflow || time < 0 ? 0 : OpusParameters.samples(of: time)
        // A page whose position is less than its packets need would look like the stream's end.
        position = (due &- position > Self.tolerance ? due : position) &+ duration
        defer { sequence &+= 1 }
        return OggPage(position: position, serial: serial, sequence: sequence, packets: packets)
    }
}
