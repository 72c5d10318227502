package import Media

/// An image in the binary form of PPM, with 8 bits per colour (netpbm's ppm(5)).
package struct PPMPicture: Image {
    static let beginning = [UInt8](ascii: "P6")
    /// The most digits that a number may have.
    private static let mostDigits = 5

    package let size: PictureSize
    /// Red, green and blue of each pixel, without gaps.
    private let pixels: UnsafeRawBufferPointer

    package init(_ bytes: UnsafeRawBufferPointer) throws(ImageError) {
        guard bytes.starts(with: Self.beginning) else { throw Self.broken }
        var place = Self.beginning.count
        let width = try Self.number(bytes, at: &place)
        let height = try Self.number(bytes, at: &place)
        let largest = try Self.number(bytes, at: &place)
        guard largest == 255 else {
            throw ImageError(reason: "a PPM picture with colours up to \(largest), not 255")
        }
        // Exactly one white-space byte precedes the pixels, because pixels may start with bytes that look like white
        // space.
        guard place < bytes.count, Self.isSpace(bytes[place]) else { throw Self.broken }
        place += 1
        let missing = width * height * 3 - (bytes.count - place)
        guard missing == 0 else {
            throw ImageError(reason: "a PPM picture \(missing > 0 ? "that is cut off" : "with more behind it")")
        }
        size = PictureSize(width: width, height: height)
        pixels = UnsafeRawBufferPointer(rebasing: bytes[place...])
    }

    package func draw(into first: UnsafeMutableRawPointer, stride: Int) {
        guard var source = pixels.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
        for row in 0..<size.height {
            let target = (first + row * stride).assumingMemoryBound(to: UInt32.self)
            for column in 0..<size.width {
                // Little-endian: blue is the lowest byte.
                target[column] = UInt32(source[2]) | UInt32(source[1]) << 8 | UInt32(source[0]) << 16 | 0xFF00_0000
                source += 3
            }
        }
    }

    private static let broken = ImageError(reason: "a PPM picture with a broken head")

    /// Reads a decimal number after white space and comments.
    private static func number(_ bytes: UnsafeRawBufferPointer, at place: inout Int) throws(ImageError) -> Int {
        let start = place
        while place < bytes.count, isSpace(bytes[place]) || bytes[place] == UInt8(ascii: "#") {
            if bytes[place] == UInt8(ascii: "#") {
                while place < bytes.count, bytes[place] != UInt8(ascii: "\n") { place += 1 }
            } else {
                place += 1
            }
        }
        guard place > start else { throw broken }
        var (number, digits) = (0, 0)
        while place < bytes.count, case let digit = Int(bytes[place]) - Int(UInt8(ascii: "0")), 0...9 ~= digit {
            (number, digits) = (number * 10 + digit, digits + 1)
            guard digits <= mostDigits else { throw broken }
            place += 1
        }
        guard digits > 0 else { throw broken }
        return number
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0D ~= byte }
}

extension [UInt8] {
    fileprivate init(ascii text: String) { self = Array(text.utf8) }
}
