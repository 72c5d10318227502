/// A picture as sixels (VT340 Programmer Reference Manual, chapter 14), in a palette of 6 levels each of red, green and
/// blue.
package enum Sixel {
    private static let levels = 6
    /// Rows of pixels that a row of sixels has.
    package static let rows = 6

    /// Returns the text that draws a picture from the terminal's top left corner on.
    ///
    /// - Parameter pixels: Blue, green, red, and a byte that is ignored.
    package static func text(_ pixels: [UInt8], width: Int, height: Int) -> String {
        var text = "\u{1B}[H\u{1B}P0;1q\"1;1;\(width);\(height)" + palette
        let colours = (0..<(width * height)).map { index(of: pixels, at: $0 * 4) }
        for band in stride(from: 0, to: height, by: rows) {
            let bandRows = band..<min(band + rows, height)
            let used = Set(bandRows.flatMap { colours[($0 * width)..<(($0 + 1) * width)] }).sorted()
            for colour in used {
                text += "#\(colour)"
                let sixels = (0..<width).map { column in
                    bandRows.reduce(UInt8(0)) { bits, row in
                        colours[row * width + column] == colour ? bits | 1 << UInt8(row - band) : bits
                    }
                }
                text += packed(sixels) + "$"
            }
            text += "-"
        }
        return text + "\u{1B}\\"
    }

    /// The colours, in percent.
    private static let palette: String = (0..<(levels * levels * levels)).map { colour in
        let parts = [colour / (levels * levels), colour / levels % levels, colour % levels]
        return "#\(colour);2;" + parts.map { "\($0 * 100 / (levels - 1))" }.joined(separator: ";")
    }.joined()

    private static func index(of pixels: [UInt8], at place: Int) -> Int {
        func level(_ value: UInt8) -> Int { (Int(value) * (levels - 1) + 127) / 255 }
        return (level(pixels[place + 2]) * levels + level(pixels[place + 1])) * levels + level(pixels[place])
    }

    /// Returns the characters of a row, in which repeated ones stand once with their number.
    private static func packed(_ sixels: [UInt8]) -> String {
        var (text, place) = ("", 0)
        while place < sixels.count {
            let end = sixels[place...].firstIndex { $0 != sixels[place] } ?? sixels.count
            let character = Character(Unicode.Scalar(63 + sixels[place]))
            let count = end - place
            text += count > 3 ? "!\(count)\(character)" : String(repeating: character, count: count)
            place = end
        }
        return text
    }
}
