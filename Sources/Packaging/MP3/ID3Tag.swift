import Media

/// An ID3 tag of a piece of music (id3.org: ID3v2.2, ID3v2.3, ID3v2.4, ID3v1).
struct ID3Tag: Equatable {
    private(set) var tags = MediaTags()

    init() {}

    /// Reads a tag of version 2 with its header; `nil` for other bytes and later versions.
    init?(_ bytes: [UInt8]) {
        let isRead = bytes.read { tag -> Bool in
            var tag = tag
            guard tag.skip(3), let version = tag.u8(), 2...4 ~= version, tag.skip(1), let flags = tag.u8(),
                let size = tag.u32().flatMap(Self.size), let body = tag.take(min(Int(clamping: size), tag.count))
            else { return false }
            // Before version 4, all of it has a zero byte too many after each 0xFF.
            guard version < 4, flags & 0x80 != 0 else {
                readFrames(body, version: version, flags: flags)
                return true
            }
            Self.synchronized(body).read { readFrames($0, version: version, flags: flags) }
            return true
        }
        guard isRead else { return nil }
    }

    /// Reads the last 128 bytes of a file; `nil` if they are not a tag of version 1.
    init?(last bytes: [UInt8]) {
        let isRead = bytes.read { tag -> Bool in
            var tag = tag
            guard tag.count == 128, tag.take(3)?.bytes == Array("TAG".utf8), let title = tag.take(30),
                let artist = tag.take(30), let album = tag.take(30), tag.skip(4 + 28), let zero = tag.u8(),
                let number = tag.u8()
            else { return false }
            tags.title = Self.text(title.bytes, encoding: 0)
            tags.artist = Self.text(artist.bytes, encoding: 0)
            tags.album = Self.text(album.bytes, encoding: 0)
            if zero == 0, number > 0 { tags.track = "\(number)" }
            return true
        }
        guard isRead else { return nil }
    }

    /// Takes over what it lacks.
    mutating func complete(from other: ID3Tag) { tags.complete(from: other.tags) }

    /// Returns a size of four bytes with seven bits each; `nil` if one has eight.
    static func size(_ word: UInt32) -> UInt32? {
        guard word & 0x8080_8080 == 0 else { return nil }
        return word & 0x7F | word >> 1 & 0x3F80 | word >> 2 & 0x1F_C000 | word >> 3 & 0xFE0_0000
    }

    // MARK: Frames

    private mutating func readFrames(_ body: ByteReader, version: UInt8, flags: UInt8) {
        var rest = body
        // An extended header.
        if version > 2, flags & 0x40 != 0 {
            guard let size = rest.u32() else { return }
            if version == 3 {
                rest.skip(Int(clamping: size))
            } else {
                rest.skip(Int(clamping: Self.size(size) ?? 4) - 4)
            }
        }
        while let frame = Self.nextFrame(of: &rest, version: version) { read(frame) }
    }

    private struct Frame {
        let name: String
        let bytes: [UInt8]
    }

    /// Returns the next frame; `nil` at the padding or at the end.
    private static func nextFrame(of rest: inout ByteReader, version: UInt8) -> Frame? {
        while true {
            guard let name = rest.take(version == 2 ? 3 : 4)?.bytes, name.first != 0 else { return nil }
            let size: UInt32?
            if version == 2 {
                size = rest.take(3).map { $0.bytes.reduce(0) { $0 << 8 | UInt32(clamping: $1) } }
            } else {
                size = rest.u32().flatMap { version == 4 ? Self.size($0) : $0 }
            }
            var format: UInt8 = 0
            if version > 2 {
                guard rest.skip(1), let flags = rest.u8() else { return nil }
                format = flags
            }
            guard let size, var body = rest.take(Int(clamping: size)) else { return nil }
            // Compressed and encrypted ones are skipped. Version 4 has flags of its own.
            let isClosed = version == 4 ? format & 0x0C != 0 : format & 0xC0 != 0
            guard !isClosed else { continue }
            if version == 4, format & 0x40 != 0 { body.skip(1) }
            if version == 3, format & 0x20 != 0 { body.skip(1) }
            if version == 4, format & 0x01 != 0 { body.skip(4) }
            let bytes = version == 4 && format & 0x02 != 0 ? synchronized(body) : body.bytes
            return Frame(name: String(decoding: name, as: UTF8.self), bytes: bytes)
        }
    }

    private mutating func read(_ frame: Frame) {
        switch frame.name {
        case "TIT2", "TT2": tags.title = tags.title ?? Self.text(frame)
        case "TPE1", "TP1": tags.artist = tags.artist ?? Self.text(frame)
        case "TALB", "TAL": tags.album = tags.album ?? Self.text(frame)
        case "TRCK", "TRK": tags.track = tags.track ?? Self.text(frame)
        case "APIC", "PIC": readPicture(frame)
        default: break
        }
    }

    private mutating func readPicture(_ frame: Frame) {
        frame.bytes.read { picture in
            var picture = picture
            guard let encoding = picture.u8() else { return }
            if frame.name == "PIC" {
                guard picture.skip(3) else { return }
            } else {
                while let byte = picture.u8(), byte != 0 {}
            }
            guard let kind = picture.u8() else { return }
            // The description ends with a zero character.
            if encoding == 1 || encoding == 2 {
                while let character = picture.u16(), character != 0 {}
            } else {
                while let byte = picture.u8(), byte != 0 {}
            }
            tags.take(picture, isFront: kind == 3)
        }
    }

    /// Returns bytes without the zero after each 0xFF.
    private static func synchronized(_ reader: ByteReader) -> [UInt8] {
        var (bytes, former): ([UInt8], UInt8) = ([], 0)
        bytes.reserveCapacity(reader.count)
        for byte in reader.remaining {
            if former != 0xFF || byte != 0 { bytes.append(byte) }
            former = byte
        }
        return bytes
    }

    // MARK: Texts

    private static func text(_ frame: Frame) -> String? {
        guard let encoding = frame.bytes.first else { return nil }
        return text(frame.bytes.read { $0.part(from: 1, count: MediaTags.longestText).bytes }, encoding: encoding)
    }

    /// Returns the first text, without spaces around it; `nil` if it is empty.
    ///
    /// - Parameter encoding: 0 for Latin-1, 1 for UTF-16 with a byte order mark, 2 for UTF-16 in big-endian order, 3
    ///   for UTF-8.
    private static func text(_ bytes: some Collection<UInt8>, encoding: UInt8) -> String? {
        let scalars: String
        switch encoding {
        case 1, 2:
            var (units, isLittle): ([UInt16], Bool) = ([], false)
            var rest = bytes[...]
            while let first = rest.popFirst(), let second = rest.popFirst() {
                let unit = UInt16(clamping: first) << 8 | UInt16(clamping: second)
                if units.isEmpty, unit == 0xFFFE || unit == 0xFEFF {
                    isLittle = unit == 0xFFFE
                    continue
                }
                guard unit != 0 else { break }
                units.append(isLittle ? unit.byteSwapped : unit)
            }
            scalars = String(decoding: units, as: UTF16.self)
        case 3: scalars = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        default: scalars = String(String.UnicodeScalarView(bytes.prefix { $0 != 0 }.map { Unicode.Scalar($0) }))
        }
        return MediaTags.trimmed(scalars)
    }
}
