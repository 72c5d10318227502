/// A picture as characters, in 24-bit colours (ISO/IEC 8613-6, SGR 38 and 48).
///
/// Each shows two pixels, one above the other: an upper half block and its ground.
package enum HalfBlocks {
    /// Returns the text that draws a picture from the terminal's top left corner on.
    ///
    /// - Parameters:
    ///   - pixels: Blue, green, red, and a byte that is ignored.
    ///   - width: Of the picture, which is the number of columns.
    ///   - height: An even number.
    package static func text(_ pixels: [UInt8], width: Int, height: Int) -> String {
        var text = "\u{1B}[H"
        text.reserveCapacity(width * height * 12)
        for row in stride(from: 0, to: height - 1, by: 2) {
            var (ground, ink): (UInt32?, UInt32?)
            for column in 0..<width {
                let upper = colour(pixels, (row * width + column) * 4)
                let lower = colour(pixels, ((row + 1) * width + column) * 4)
                if upper != ink { text += "\u{1B}[38;2;\(components(upper))m" }
                if lower != ground { text += "\u{1B}[48;2;\(components(lower))m" }
                (ink, ground) = (upper, lower)
                text += "\u{2580}"
            }
            text += "\u{1B}[0m"
            if row + 2 < height - 1 { text += "\r\n" }
        }
        return text
    }

    private static func colour(_ pixels: [UInt8], _ place: Int) -> UInt32 {
        UInt32(pixels[place + 2]) << 16 | UInt32(pixels[place + 1]) << 8 | UInt32(pixels[place])
    }

    private static func components(_ colour: UInt32) -> String {
        "\(colour >> 16);\(colour >> 8 & 0xFF);\(colour & 0xFF)"
    }
}
