import Media

/// A reader of the pages of one Ogg stream, from bytes as they arrive.
package struct OggPageReader: Sendable {
    package enum Failure: Error, Equatable, Sendable {
        /// The bytes are not such a stream.
        case malformed
    }

    private var bytes: [UInt8] = []

    package init() {}

    /// Returns the pages that are complete with these bytes. A page has at most 65,307 bytes.
    package mutating func append(_ more: some Sequence<UInt8>) throws(Failure) -> [OggPage] {
        bytes.append(contentsOf: more)
        var pages: [OggPage] = []
        let left = try bytes.span.bytes.withUnsafeBytes { bytes throws(Failure) in
            var reader = ByteReader(bytes)
            while let page = try OggPage(&reader) { pages.append(page) }
            return reader.count
        }
        bytes.removeLeading(bytes.count &- left)
        return pages
    }
}

extension OggPage {
    /// Reads the next page; `nil` if it is not complete yet. In that case it reads nothing.
    fileprivate init?(_ reader: inout ByteReader) throws(OggPageReader.Failure) {
        var ahead = reader
        guard let header = ahead.take(Self.headerSize) else { return nil }
        var fields = header
        guard fields.take(Self.magic.count)?.bytes == Self.magic, fields.u8() == 0, let flags = fields.u8(),
            let position = fields.u64(), let serial = fields.u32(), let sequence = fields.u32(), fields.skip(4),
            let segments = fields.u8()
        else { throw .malformed }
        guard let lacing = ahead.take(Int(clamping: segments)) else { return nil }
        let size = lacing.bytes.reduce(0) { $0 &+ Int(clamping: $1) }
        guard ahead.skip(size) else { return nil }
        self.flags = Flags(rawValue: flags)
        self.position = Int64(bitPattern: position.byteSwapped)
        (self.serial, self.sequence) = (serial.byteSwapped, sequence.byteSwapped)
        bytes = reader.take(reader.count &- ahead.count)?.bytes ?? []
    }
}
