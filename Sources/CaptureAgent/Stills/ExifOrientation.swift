/// The segment of a JPEG file that tells players how to turn the picture.
enum ExifOrientation {
    /// Exif 2.32, 4.6.4: the values of the tag for 0 to 3 clockwise quarter turns that make the picture upright.
    private static let values: [UInt8] = [1, 6, 3, 8]

    /// An APP1 segment with that one tag (Exif 2.32, 4.5 and 4.6.2: big-endian TIFF).
    static func segment(_ quarterTurns: UInt8) -> [UInt8] {
        let tag: [UInt8] = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, values[Int(quarterTurns) & 3], 0, 0]
        let tiff: [UInt8] = [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1] + tag + [0, 0, 0, 0]
        let body = Array("Exif".utf8) + [0, 0] + tiff
        return [0xFF, 0xE1, 0, UInt8(body.count + 2)] + body
    }
}
