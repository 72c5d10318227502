import CaptureAgent
import Media
import TestSupport
import Testing

@Suite("Drawing the pointer")
struct PointerDrawingTests {
    private static let size = PictureSize(width: 32, height: 24)

    /// Pixels of blue, green, red and an ignored byte.
    private static func noise(seed: UInt64) -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        return (0..<(size.width * size.height * 4)).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    private static func image(side: Int, seed: UInt64, alpha: ClosedRange<UInt8> = 0...255) -> PointerImage {
        var generator = SeededGenerator(seed: seed)
        let rgba = (0..<(side * side)).flatMap { _ -> [UInt8] in
            let alpha = UInt8.random(in: alpha, using: &generator)
            return (0..<3).map { _ in UInt8.random(in: 0...alpha, using: &generator) } + [alpha]
        }
        return PointerImage(size: PictureSize(width: side, height: side), rgba: rgba)
    }

    private static func picture(_ pixels: [UInt8], pointer: Pointer?, output: PictureSize = size) -> PlanarPicture {
        let description = FrameDescription(size: size, stride: size.width * 4, format: .bgrx)
        let frame = FramePixels(description: description) { $0.copyBytes(from: pixels) }
        let picture = PlanarPicture(size: output)
        PictureScaler(source: size, output: output)
            .convert(frame, pointer: pointer, into: picture)
        return picture
    }

    /// Draws the pointer over the pixels before any conversion, with integer colours.
    private static func composed(_ pixels: [UInt8], _ pointer: Pointer) -> [UInt8] {
        var pixels = pixels
        let side = pointer.image.size.width
        for row in 0..<side {
            for column in 0..<side {
                let (x, y) = (pointer.x + column, pointer.y + row)
                guard 0..<size.width ~= x, 0..<size.height ~= y else { continue }
                let own = pointer.image.rgba[((row * side + column) * 4)...].prefix(4).map(Int.init)
                for channel in 0..<3 {
                    let offset = (y * size.width + x) * 4 + channel
                    let below = Int(pixels[offset]) * (255 - own[3])
                    pixels[offset] = UInt8(clamping: own[2 - channel] + (below + 127) / 255)
                }
            }
        }
        return pixels
    }

    private static func samples(_ picture: PlanarPicture) -> [Int] {
        let (size, chroma) = (picture.size, picture.chromaStride)
        let luma = (0..<size.height).flatMap { y in (0..<size.width).map { Int(picture.y[y * picture.lumaStride + $0]) }
        }
        return luma
            + [picture.u, picture.v].flatMap { plane in
                (0..<(size.height / 2)).flatMap { y in (0..<(size.width / 2)).map { Int(plane[y * chroma + $0]) } }
            }
    }

    @Test(
        "it looks as if it had been laid over the screen before the conversion, at every place and half outside",
        arguments: [(0, 0), (3, 5), (4, 4), (7, 2), (-5, 3), (2, -7), (27, 19), (30, 22), (-11, -11)]
    )
    func place(x: Int, y: Int) {
        let pixels = Self.noise(seed: 1)
        let pointer = Pointer(image: Self.image(side: 12, seed: 2), x: x, y: y)
        let drawn = Self.samples(Self.picture(pixels, pointer: pointer))
        let expected = Self.samples(Self.picture(Self.composed(pixels, pointer), pointer: nil))
        #expect(drawn == expected)
        #expect(drawn != Self.samples(Self.picture(pixels, pointer: nil)))
    }

    @Test("if it is transparent or off the screen, no sample changes")
    func untouched() {
        let pixels = Self.noise(seed: 3)
        let bare = Self.samples(Self.picture(pixels, pointer: nil))
        let nowhere = [
            Pointer(image: Self.image(side: 12, seed: 4, alpha: 0...0), x: 5, y: 5),
            Pointer(image: Self.image(side: 12, seed: 4), x: 32, y: 5),
            Pointer(image: Self.image(side: 12, seed: 4), x: -12, y: 5),
            Pointer(image: Self.image(side: 12, seed: 4), x: 5, y: 24),
            Pointer(image: Self.image(side: 12, seed: 4), x: Int(Int32.min), y: Int(Int32.max)),
        ]
        for pointer in nowhere {
            #expect(Self.samples(Self.picture(pixels, pointer: pointer)) == bare)
        }
    }

    @Test("it is scaled with the screen")
    func scaled() {
        let output = PictureSize(width: 16, height: 12)
        let black = [UInt8](repeating: 0, count: Self.size.width * Self.size.height * 4)
        let white = PointerImage(size: PictureSize(width: 8, height: 8), rgba: Array(repeating: 255, count: 256))
        let picture = Self.picture(black, pointer: Pointer(image: white, x: 8, y: 4), output: output)
        for y in 0..<output.height {
            for x in 0..<output.width {
                let isInside = 4..<8 ~= x && 2..<6 ~= y
                // Edges have slight ringing.
                let luma = picture.y[y * picture.lumaStride + x]
                #expect(isInside ? luma > 200 : luma < 40)
            }
        }
    }
}
