import Media

/// The tags at both ends of an MP3 file.
struct MP3Tags {
    /// The most bytes of a tag that are read. A longer one is skipped.
    private static let longest = 16 << 20
    /// The most tags at the beginning, one after the other.
    private static let most = 8

    /// Where the frames may begin and end.
    private(set) var (begin, end): (UInt64, UInt64)
    private(set) var tag = ID3Tag()

    init(size: UInt64, _ read: MP3Scan.Read) throws(MP3Scan.Failure) {
        (begin, end) = (0, size)
        for _ in 0..<Self.most {
            guard let head = read(begin, 10) else { throw .unreadable }
            guard let length = Self.tagLength(head), length <= size &- begin else { break }
            if tag == ID3Tag(), length <= UInt64(clamping: Self.longest) {
                guard let bytes = read(begin, Int(clamping: length)) else { throw .unreadable }
                tag = ID3Tag(bytes) ?? ID3Tag()
            }
            begin &+= length
        }
        // ID3v1: the last 128 bytes.
        if end &- begin >= 128 {
            guard let last = read(end &- 128, 128) else { throw .unreadable }
            if let old = ID3Tag(last: last) {
                tag.complete(from: old)
                end &-= 128
            }
        }
        // APE, with a footer of 32 bytes and maybe a header (wiki.hydrogenaud.io, APEv2 specification).
        if end &- begin >= 32 {
            guard let footer = read(end &- 32, 32) else { throw .unreadable }
            if let length = Self.apeLength(footer), length <= end &- begin { end &-= length }
        }
    }

    /// Returns the length of an ID3v2 tag with its header and footer (id3.org, ID3v2.4.0, 3.1); `nil` for other bytes.
    private static func tagLength(_ head: [UInt8]) -> UInt64? {
        head.read { head -> UInt64? in
            var head = head
            guard head.take(3)?.bytes == Array("ID3".utf8), head.skip(2), let flags = head.u8(),
                let size = head.u32().flatMap(ID3Tag.size)
            else { return nil }
            return UInt64(clamping: size) &+ (flags & 0x10 != 0 ? 20 : 10)
        }
    }

    private static func apeLength(_ footer: [UInt8]) -> UInt64? {
        footer.read { footer -> UInt64? in
            var footer = footer
            guard footer.take(8)?.bytes == Array("APETAGEX".utf8), footer.skip(4), let size = footer.u32(),
                footer.skip(4), let flags = footer.u32()
            else { return nil }
            // Fields are little-endian. The size is without the header.
            return UInt64(clamping: size.byteSwapped) &+ (flags.byteSwapped >> 31 != 0 ? 32 : 0)
        }
    }
}
