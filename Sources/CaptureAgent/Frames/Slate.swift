package import Media

/// The picture shown for a lost screen: grey, with NO SIGNAL in block letters and the minutes since the loss.
package enum Slate {
    private static let background: UInt8 = 0x40
    private static let ink: UInt8 = 0xC0

    /// Seven rows of five pixels each; bit 4 is the left pixel.
    private static let glyphs: [Character: [UInt8]] = [
        "N": [0x11, 0x19, 0x15, 0x13, 0x11, 0x11, 0x11], "O": [0x0E, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0E],
        "S": [0x0F, 0x10, 0x10, 0x0E, 0x01, 0x01, 0x1E], "I": [0x0E, 0x04, 0x04, 0x04, 0x04, 0x04, 0x0E],
        "G": [0x0E, 0x11, 0x10, 0x17, 0x11, 0x11, 0x0E], "A": [0x0E, 0x11, 0x11, 0x1F, 0x11, 0x11, 0x11],
        "L": [0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x1F], "M": [0x11, 0x1B, 0x15, 0x15, 0x11, 0x11, 0x11],
        "0": [0x0E, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0E], "1": [0x04, 0x0C, 0x04, 0x04, 0x04, 0x04, 0x0E],
        "2": [0x0E, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1F], "3": [0x1F, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0E],
        "4": [0x02, 0x06, 0x0A, 0x12, 0x1F, 0x02, 0x02], "5": [0x1F, 0x10, 0x1E, 0x01, 0x01, 0x11, 0x0E],
        "6": [0x06, 0x08, 0x10, 0x1E, 0x11, 0x11, 0x0E], "7": [0x1F, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08],
        "8": [0x0E, 0x11, 0x11, 0x0E, 0x11, 0x11, 0x0E], "9": [0x0E, 0x11, 0x11, 0x0F, 0x01, 0x02, 0x0C],
    ]
    private static let glyphWidth = 6
    private static let glyphHeight = 7

    /// Returns the slate's pixels.
    ///
    /// - Parameter minutes: How long the screen has been lost.
    package static func pixels(size: PictureSize, minutes: Int) -> FramePixels {
        let stride = size.width * PixelFormat.bytesPerPixel
        return FramePixels(description: FrameDescription(size: size, stride: stride, format: .bgrx)) { memory in
            memory.initializeMemory(as: UInt8.self, repeating: background)
            let title = "NO SIGNAL"
            // The title takes four fifths of the width.
            let unit = max(1, size.width * 4 / (title.count * glyphWidth * 5))
            let middle = size.height / 2
            draw(title, unit: unit, centre: middle - unit * glyphHeight, in: memory, size: size)
            if minutes > 0 {
                draw(
                    "\(minutes) MIN",
                    unit: max(1, unit / 2),
                    centre: middle + unit * glyphHeight,
                    in: memory,
                    size: size
                )
            }
        }
    }

    /// - Parameter unit: The side of one glyph pixel, in pixels of the picture.
    private static func draw(
        _ text: String,
        unit: Int,
        centre: Int,
        in memory: UnsafeMutableRawBufferPointer,
        size: PictureSize
    ) {
        let left = (size.width - text.count * glyphWidth * unit) / 2
        let top = centre - unit * glyphHeight / 2
        for (index, character) in text.enumerated() {
            guard let glyph = glyphs[character] else { continue }
            for row in 0..<glyphHeight {
                for column in 0..<5 where glyph[row] >> (4 - column) & 1 == 1 {
                    let x = left + (index * glyphWidth + column) * unit
                    fill(x, top + row * unit, unit, in: memory, size: size)
                }
            }
        }
    }

    private static func fill(
        _ left: Int,
        _ top: Int,
        _ side: Int,
        in memory: UnsafeMutableRawBufferPointer,
        size: PictureSize
    ) {
        let columns = (left..<left + side).clamped(to: 0..<size.width)
        for y in (top..<top + side).clamped(to: 0..<size.height) {
            let row = y * size.width * PixelFormat.bytesPerPixel
            for offset in (columns.lowerBound * 4)..<(columns.upperBound * 4) { memory[row + offset] = ink }
        }
    }
}
