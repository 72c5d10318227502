package import Media

/// Several JPEGs below each other in one, without decoding any.
///
/// Each picture becomes one restart interval (ITU-T T.81, B.2.1): the predictions of its coefficients begin at zero in
/// either case. So all must be baseline JPEGs in colour, of the same size, sampling and tables, and without restart
/// markers. Up to 31 rows of padding follow a picture that does not fill its last blocks.
///
///     guard var strip = JPEGStrip(first) else { … }
///     strip.append(second)
///     file.write(strip.bytes)
package struct JPEGStrip: Sendable {
    /// The bytes from a marker on.
    private enum Marker {
        static let begin: UInt8 = 0xD8
        static let end: UInt8 = 0xD9
        static let baseline: UInt8 = 0xC0
        static let huffmanTables: UInt8 = 0xC4
        static let quantizationTables: UInt8 = 0xDB
        static let scan: UInt8 = 0xDA
        static let restartInterval: UInt8 = 0xDD
        static let firstRestart: UInt8 = 0xD0
    }

    /// What a JPEG consists of.
    private struct Parts: Equatable {
        /// The segments of tables.
        var tables: [UInt8] = []
        /// The frame header without its marker, length, precision, height and width.
        var components: [UInt8] = []
        var size = PictureSize(width: 0, height: 0)
        /// The segment before the coded pictures.
        var scan: [UInt8] = []
    }

    /// The size of each picture.
    package var size: PictureSize { parts.size }
    /// The distance between two pictures' first rows.
    package let rows: Int
    private let parts: Parts
    private let interval: UInt16
    private var pictures: [[UInt8]]

    /// The number of pictures.
    package var count: Int { pictures.count }

    /// Begins with a picture; `nil` if it is not such a JPEG.
    package init?(_ jpeg: [UInt8]) {
        guard let (parts, picture) = Self.parse(jpeg), let block = Self.block(of: parts.components) else { return nil }
        func blocks(_ length: Int, _ block: Int) -> Int { (length + block - 1) / max(1, block) }
        let down = blocks(parts.size.height, block.height)
        guard let interval = UInt16(exactly: blocks(parts.size.width, block.width) * down) else { return nil }
        (self.parts, self.interval, rows, pictures) = (parts, interval, down * block.height, [picture])
    }

    /// Adds a picture.
    ///
    /// - Returns: `false` if it is of another kind or there is no room for it. The strip is then as before.
    package mutating func append(_ jpeg: [UInt8]) -> Bool {
        guard let (other, picture) = Self.parse(jpeg), other == parts, rows * (pictures.count + 1) <= 65_535 else {
            return false
        }
        pictures.append(picture)
        return true
    }

    /// The file with all pictures so far.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = [0xFF, Marker.begin] + parts.tables
        bytes += [0xFF, Marker.baseline]
        bytes.append(bigEndian: UInt16(clamping: 7 + parts.components.count))
        bytes.append(8)
        bytes.append(bigEndian: UInt16(clamping: rows * pictures.count))
        bytes.append(bigEndian: UInt16(clamping: parts.size.width))
        bytes += parts.components
        bytes += [0xFF, Marker.restartInterval, 0, 4]
        bytes.append(bigEndian: interval)
        bytes += parts.scan
        for (place, picture) in pictures.enumerated() {
            if place > 0 { bytes += [0xFF, Marker.firstRestart + UInt8(truncatingIfNeeded: place - 1) & 7] }
            bytes += picture
        }
        return bytes + [0xFF, Marker.end]
    }

    /// Splits a JPEG into its headers and its coded picture; `nil` if it is not of the kind.
    private static func parse(_ jpeg: [UInt8]) -> (Parts, picture: [UInt8])? {
        jpeg.withUnsafeBytes { bytes in
            var (rest, parts) = (ByteReader(bytes), Parts())
            guard rest.u8() == 0xFF, rest.u8() == Marker.begin else { return nil }
            while rest.u8() == 0xFF, let marker = rest.u8() {
                let segment = rest
                guard let length = rest.u16(), var body = rest.take(Int(clamping: length) - 2) else { return nil }
                let whole = [0xFF, marker] + segment.part(from: 0, count: Int(clamping: length)).bytes
                switch marker {
                case Marker.huffmanTables, Marker.quantizationTables: parts.tables += whole
                case Marker.baseline:
                    guard body.u8() == 8, let height = body.u16(), let width = body.u16(), height > 0, width > 0 else {
                        return nil
                    }
                    parts.size = PictureSize(width: Int(clamping: width), height: Int(clamping: height))
                    parts.components = body.bytes
                case Marker.scan:
                    parts.scan = whole
                    return picture(rest).map { (parts, $0) }
                // Texts, profiles and orientations are left out.
                case 0xE0...0xEF, 0xFE: break
                default: return nil
                }
            }
            return nil
        }
    }

    /// Returns the coded picture without the end's marker; `nil` if there is another marker before that.
    private static func picture(_ reader: ByteReader) -> [UInt8]? {
        var rest = reader
        var count = 0
        while let byte = rest.u8() {
            guard byte == 0xFF else {
                count += 1
                continue
            }
            switch rest.u8() {
            case 0: count += 2
            case Marker.end: return reader.part(from: 0, count: count).bytes
            default: return nil
            }
        }
        return nil
    }

    /// Returns the size in pixels of what is coded together; `nil` if it is not one of three components.
    private static func block(of components: [UInt8]) -> PictureSize? {
        guard components.count == 10, components[at: 0] == 3 else { return nil }
        let samplings = [2, 5, 8].compactMap { components[at: $0] }
        let (width, height) = (
            samplings.map { Int(clamping: $0 >> 4) }.max() ?? 0, samplings.map { Int(clamping: $0 & 15) }.max() ?? 0
        )
        guard 1...4 ~= width, 1...4 ~= height else { return nil }
        return PictureSize(width: 8 * width, height: 8 * height)
    }
}
