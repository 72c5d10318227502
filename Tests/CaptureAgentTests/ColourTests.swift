import CColour
import Media
import TestSupport
import Testing

@Suite("BT.709 conversion")
struct ColourTests {
    private struct Planes: Equatable {
        var y: [UInt8]
        var u: [UInt8]
        var v: [UInt8]
    }

    private typealias Conversion = @Sendable (ccolour_picture, ccolour_planes) -> Void

    private static let conversions: [(samples: Int, best: Conversion, portable: Conversion)] = [
        (2, ccolour_rgb_to_i420, ccolour_rgb_to_i420_portable), (1, ccolour_rgb_to_i444, ccolour_rgb_to_i444_portable),
    ]

    /// - Parameter scale: Pixels per chroma sample, in each direction.
    private static func convert(
        _ pixels: [UInt8],
        width: Int,
        height: Int,
        blueFirst: Bool,
        scale: Int,
        by conversion: Conversion
    ) -> Planes {
        let chroma = width * height / scale / scale
        var planes = Planes(
            y: Array(repeating: 0, count: width * height),
            u: Array(repeating: 0, count: chroma),
            v: Array(repeating: 0, count: chroma)
        )
        planes.y.withUnsafeMutableBufferPointer { y in
            planes.u.withUnsafeMutableBufferPointer { u in
                planes.v.withUnsafeMutableBufferPointer { v in
                    let destination = ccolour_planes(
                        y: y.baseAddress,
                        u: u.baseAddress,
                        v: v.baseAddress,
                        y_stride: width,
                        chroma_stride: width / scale
                    )
                    pixels.withUnsafeBufferPointer { pixels in
                        let picture = ccolour_picture(
                            pixels: pixels.baseAddress,
                            stride: width * 4,
                            width: width,
                            height: height,
                            blue_first: blueFirst
                        )
                        conversion(picture, destination)
                    }
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
            for (scale, best, portable) in Self.conversions {
                let planes = [best, portable].map {
                    Self.convert(pixels, width: width, height: 6, blueFirst: blueFirst, scale: scale, by: $0)
                }
                #expect(planes[0] == planes[1])
            }
        }
    }

    @Test("colours come out as the standard's formulas say, rounded")
    func reference() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<2000 {
            let colours: [SIMD3<Double>] = (0..<4).map { _ in
                SIMD3(
                    Double(Int.random(in: 0...255, using: &generator)),
                    Double(Int.random(in: 0...255, using: &generator)),
                    Double(Int.random(in: 0...255, using: &generator))
                )
            }
            let block = colours.flatMap { colour -> [UInt8] in
                [UInt8(colour.z), UInt8(colour.y), UInt8(colour.x), 77]
            }
            let (shared, own) = (
                Self.convert(block, width: 2, height: 2, blueFirst: true, scale: 2, by: ccolour_rgb_to_i420),
                Self.convert(block, width: 2, height: 2, blueFirst: true, scale: 1, by: ccolour_rgb_to_i444)
            )
            let mean = Self.samples(colours.reduce(.zero, +) / 4)
            #expect(Self.isRounded(shared.u[0], mean.u) && Self.isRounded(shared.v[0], mean.v))
            #expect(own.y == shared.y)
            for (index, colour) in colours.enumerated() {
                let exact = Self.samples(colour)
                #expect(Self.isRounded(own.y[index], exact.y))
                #expect(Self.isRounded(own.u[index], exact.u) && Self.isRounded(own.v[index], exact.v))
            }
        }
    }

    /// ITU-R BT.709-6, sections 3 and 4. The colour is red, green and blue, each 0 to 255.
    private static func samples(_ colour: SIMD3<Double>) -> (y: Double, u: Double, v: Double) {
        let (r, g, b) = (colour.x / 255, colour.y / 255, colour.z / 255)
        let luma = 0.2126 * r + 0.7152 * g + 0.0722 * b
        return (16 + 219 * luma, 128 + 224 * (b - luma) / 1.8556, 128 + 224 * (r - luma) / 1.5748)
    }

    private static func isRounded(_ sample: UInt8, _ exact: Double) -> Bool { abs(Double(sample) - exact) < 0.52 }
}
