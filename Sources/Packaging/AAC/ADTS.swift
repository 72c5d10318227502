package import Media

/// ADTS: a header of seven bytes before each packet of AAC (ISO/IEC 13818-7, 6.2).
package enum ADTS {
    package static let headerSize = 7

    /// Returns the header of a packet.
    ///
    /// - Parameter size: The packet's size in bytes, at most ``AACParameters/mostBytes``.
    package static func header(_ parameters: AACParameters, size: Int) -> [UInt8] {
        let length = UInt32(clamping: size &+ headerSize) & 0x1FFF
        let channels = UInt32(clamping: parameters.channels)
        // The syncword, MPEG-4, no layer, no checksum; profile LC, then the frequency and the channels.
        let fixed = 0xFFF1 << 16 | 1 << 14 | UInt32(clamping: AACParameters.frequencyIndex) << 10 | channels << 6
        return [UInt8](byteCount: headerSize) { writer in
            writer.put(bigEndian: fixed | length >> 11)
            writer.put(bigEndian: UInt16(truncatingIfNeeded: length << 5) | 0x1F)
            // `adts_buffer_fullness` 0x7FF, a variable bitrate, and one block.
            writer.put(0xFC)
        }
    }

    /// Returns a packet after its header.
    ///
    /// - Throws: ``PackagingError/noPacket`` if it is empty or too long.
    package static func frame<Bytes: MediaBytes>(
        _ packet: some MediaBytes,
        _ parameters: AACParameters
    ) throws(PackagingError) -> Bytes {
        guard packet.read({ SoundCodec.aac.duration(of: $0) }) != nil else { throw .noPacket }
        return Bytes(byteCount: headerSize + packet.byteCount) { writer in
            writer.put(header(parameters, size: packet.byteCount))
            packet.read { writer.put($0) }
        }
    }
}

/// A packet of AAC after its header.
package struct ADTSFrame: Sendable, Equatable {
    package let bytes: [UInt8]
}

/// A reader of a stream of ADTS frames, which returns them from bytes as they arrive.
package struct ADTSReader: Sendable {
    package enum Failure: Error, Equatable, Sendable {
        /// The bytes are not such a stream.
        case malformed
    }

    private var bytes: [UInt8] = []

    package init() {}

    /// Returns the frames that are complete with these bytes.
    package mutating func append(_ more: some Sequence<UInt8>) throws(Failure) -> [ADTSFrame] {
        bytes.append(contentsOf: more)
        var frames: [ADTSFrame] = []
        let left = try bytes.span.bytes.withUnsafeBytes { bytes throws(Failure) in
            var reader = ByteReader(bytes)
            while let frame = try Self.nextFrame(of: &reader) { frames.append(frame) }
            return reader.count
        }
        bytes.removeLeading(bytes.count &- left)
        return frames
    }

    /// Returns the next frame, or `nil` if it is not complete yet. In that case it reads nothing.
    private static func nextFrame(of reader: inout ByteReader) throws(Failure) -> ADTSFrame? {
        var header = reader
        guard let sync = header.u16(), header.skip(1), let lengths = header.u32() else { return nil }
        let length = Int(clamping: lengths >> 13 & 0x1FFF)
        guard sync & 0xFFF6 == 0xFFF0, length > ADTS.headerSize else { throw .malformed }
        return reader.take(length).map { ADTSFrame(bytes: $0.bytes) }
    }
}
