import CColour
import TestSupport
import Testing

@Suite("BT.709 conversion")
struct ColourTests {
    private struct Planes: Equatable {
        var y: [UInt8]
        var u: [UInt8]
        var v: [UInt8]
    }

    private typealias Conversion = (UnsafePointer<UInt8>?, Int, Int, Int, Bool, ccolour_planes) -> Void

    private static func convert(
        _ pixels: [UInt8],
        width: Int,
        height: Int,
        blueFirst: Bool,
        by conversion: Conversion
    ) -> Planes {
        let quarter = width * height / 4
        var planes = Planes(
            y: Array(repeating: 0, count: width * height),
            u: Array(repeating: 0, count: quarter),
            v: Array(repeating: 0, count: quarter)
        )
        planes.y.withUnsafeMutableBufferPointer { y in
            planes.u.withUnsafeMutableBufferPointer { u in
                planes.v.withUnsafeMutableBufferPointer { v in
                    let destination = ccolour_planes(
                        y: y.baseAddress,
                        u: u.baseAddress,
                        v: v.baseAddress,
                        y_stride: width,
                        chroma_stride: width / 2
                    )
                    conversion(pixels, width * 4, width, height, blueFirst, destination)
                }
            }
        }
        return planes
    }

    @Test("the vector path gives exactly the portable one's bytes", arguments: [2, 14, 16, 18, 30, 32, 34, 250, 256])
    func vectorPath(width: Int) {
        var generator = SeededGenerator(seed: UInt64(width))
        let pixels = (0..<(width * 4 * 6)).map { _ in UInt8.random(in: 0...255, using: &generator) }
        for blueFirst in [true, false] {
            let fast = Self.convert(pixels, width: width, height: 6, blueFirst: blueFirst, by: ccolour_rgb_to_i420)
            let plain = Self.convert(
                pixels,
                width: width,
                height: 6,
                blueFirst: blueFirst,
                by: ccolour_rgb_to_i420_portable
            )
            #expect(fast == plain)
        }
    }

    @Test("colours come out as the standard's formulas say, rounded")
    func reference() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<2000 {
            let (red, green, blue) = (
                Int.random(in: 0...255, using: &generator), Int.random(in: 0...255, using: &generator),
                Int.random(in: 0...255, using: &generator)
            )
            let pixel = [UInt8(blue), UInt8(green), UInt8(red), 77]
            let block = Array(repeating: pixel, count: 4).flatMap { $0 }
            let planes = Self.convert(block, width: 2, height: 2, blueFirst: true, by: ccolour_rgb_to_i420)
            // ITU-R BT.709-6, sections 3 and 4.
            let (r, g, b) = (Double(red) / 255, Double(green) / 255, Double(blue) / 255)
            let luma = 0.2126 * r + 0.7152 * g + 0.0722 * b
            #expect(abs(Double(planes.y[0]) - (16 + 219 * luma)) < 0.52)
            #expect(abs(Double(planes.u[0]) - (128 + 224 * (b - luma) / 1.8556)) < 0.52)
            #expect(abs(Double(planes.v[0]) - (128 + 224 * (r - luma) / 1.5748)) < 0.52)
        }
    }
}
