import Foundation
import Testing
import Viewer

@Suite("Pictures in a terminal")
struct TerminalTests {
    @Test("a half block shows two pixels, and colours are said only when they change")
    func blocks() {
        let (red, blue): ([UInt8], [UInt8]) = ([0, 0, 255, 255], [255, 0, 0, 255])
        let text = HalfBlocks.text(red + red + blue + blue, width: 2, height: 2)
        #expect(text == "\u{1B}[H\u{1B}[38;2;255;0;0m\u{1B}[48;2;0;0;255m\u{2580}\u{2580}\u{1B}[0m")
    }

    @Test("a picture as sixels decodes to its own pixels")
    func sixels() throws {
        // 8 by 8: the left half red, the right half white.
        let pixels = (0..<64).flatMap { $0 % 8 < 4 ? [0, 0, 255, 255] : [255, 255, 255, 255] as [UInt8] }
        let text = Sixel.text(pixels, width: 8, height: 8)
        #expect(text.hasPrefix("\u{1B}[H\u{1B}P0;1q\"1;1;8;8#0;2;0;0;0") && text.hasSuffix("\u{1B}\\"))
        let decoded = try Self.decode(text, width: 8, height: 8)
        for row in 0..<8 {
            // Red is the palette's 180th, white its 215th.
            #expect(decoded[(row * 8)..<(row * 8 + 8)].elementsEqual([180, 180, 180, 180, 215, 215, 215, 215]))
        }
    }

    /// Returns the numbers of the colours of pixels.
    private static func decode(_ text: String, width: Int, height: Int) throws -> [Int] {
        let body = try #require(text.range(of: "#215;2;100;100;100")).upperBound
        var (pixels, colour, column, band, number, count) = (
            Array(repeating: -1, count: width * height), 0, 0, 0, "", 1
        )
        var reads: Character = " "
        func flush() {
            if reads == "#" { colour = Int(number) ?? 0 }
            if reads == "!" { count = Int(number) ?? 1 }
            (reads, number) = (" ", "")
        }
        for character in text[body...].prefix(while: { $0 != "\u{1B}" }) {
            if character.isNumber, reads != " " {
                number.append(character)
                continue
            }
            flush()
            switch character {
            case "#", "!": reads = character
            case "$": column = 0
            case "-": (column, band) = (0, band + 1)
            case "?"..."~":
                let bits = Int(character.asciiValue ?? 63) - 63
                for _ in 0..<count {
                    for bit in 0..<6 where bits >> bit & 1 == 1 { pixels[(band * 6 + bit) * width + column] = colour }
                    column += 1
                }
                count = 1
            default: break
            }
        }
        return pixels
    }
}
