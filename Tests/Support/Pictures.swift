import CCounterPattern
import Glibc
package import Media

/// Reads what decoded pictures show.
package enum Pictures {
    /// Returns the counter value on a luma plane without row padding, or `nil` if it shows none.
    ///
    /// - Parameter content: The picture's rectangle in the plane; `nil` for the whole plane.
    package static func counter(luma: [UInt8], size: PictureSize, content: PictureFit? = nil) -> Int? {
        let value = luma.withUnsafeBufferPointer { plane in
            counter_pattern_read(
                plane.baseAddress,
                UInt32(size.width),
                UInt32(content?.x ?? 0),
                UInt32(content?.y ?? 0),
                UInt32(content?.content.width ?? size.width),
                UInt32(content?.content.height ?? size.height)
            )
        }
        return value < 0 ? nil : Int(value)
    }

    /// Returns the counter pattern that shows `value`: rows without gaps of blue, green, red and an ignored byte.
    package static func pattern(value: Int, size: PictureSize) -> [UInt8] {
        let stride = size.width * 4
        var pixels = [UInt8](repeating: 0, count: stride * size.height)
        let (width, height) = (UInt32(size.width), UInt32(size.height))
        counter_pattern_draw_background(&pixels, UInt32(stride), width, height)
        counter_pattern_draw_motion(&pixels, UInt32(stride), width, height, UInt32(value))
        counter_pattern_draw(&pixels, UInt32(stride), width, height, UInt32(value))
        return pixels
    }

    /// Returns the luma, in full range BT.709, of the counter pattern that shows `value`, as a producer of that size
    /// sent it.
    package static func patternLuma(value: Int, size: PictureSize) -> [UInt8] {
        let pixels = pattern(value: value, size: size)
        return Swift.stride(from: 0, to: pixels.count, by: 4).map { pixel in
            let (blue, green, red) = (Double(pixels[pixel]), Double(pixels[pixel + 1]), Double(pixels[pixel + 2]))
            return UInt8((0.2126 * red + 0.7152 * green + 0.0722 * blue).rounded())
        }
    }

    /// Returns the top left corner of the plane, with size `part`.
    package static func cropped(_ plane: [UInt8], size: PictureSize, to part: PictureSize) -> [UInt8] {
        (0..<part.height).flatMap { row in plane[(row * size.width)...].prefix(part.width) }
    }

    /// A plane of size `size` after `quarterTurns` clockwise turns. An odd number of them makes width and height change
    /// places.
    package static func turned(_ plane: [UInt8], size: PictureSize, quarterTurns: Int) -> [UInt8] {
        var (plane, size) = (plane, size)
        for _ in 0..<quarterTurns {
            // The first row becomes the last column.
            plane = (0..<size.width).flatMap { x in
                (0..<size.height).reversed().map { y in plane[y * size.width + x] }
            }
            size = PictureSize(width: size.height, height: size.width)
        }
        return plane
    }

    /// Returns the centre of the pixels in which two planes of one size differ by more than `threshold`, or `nil` if
    /// there are none.
    package static func middleOfDifference(
        _ one: [UInt8],
        _ other: [UInt8],
        size: PictureSize,
        threshold: Int = 40
    ) -> (x: Double, y: Double)? {
        let places = one.indices.filter { abs(Int(one[$0]) - Int(other[$0])) > threshold }
        guard !places.isEmpty else { return nil }
        let sum = places.reduce(into: (x: 0, y: 0)) { sum, place in
            sum.x += place % size.width
            sum.y += place / size.width
        }
        return (Double(sum.x) / Double(places.count), Double(sum.y) / Double(places.count))
    }

    /// Returns the peak signal-to-noise ratio of two planes in dB; infinite if they are equal.
    package static func psnr(_ one: [UInt8], _ other: [UInt8]) -> Double {
        precondition(one.count == other.count && !one.isEmpty)
        var sum = 0
        for (a, b) in zip(one, other) {
            let difference = Int(a) - Int(b)
            sum += difference * difference
        }
        guard sum > 0 else { return .infinity }
        return 10 * log10(255 * 255 * Double(one.count) / Double(sum))
    }
}
