import CaptureAgent
import Media
import Testing

@Suite("Scaling")
struct PictureScalerTests {
    /// Returns a frame of one colour whose rows are padded with another one.
    private static func frame(_ size: PictureSize, format: PixelFormat, red: UInt8, green: UInt8, blue: UInt8)
        -> FramePixels
    {
        let stride = size.width * 4 + 32
        let description = FrameDescription(size: size, stride: stride, format: format)
        return FramePixels(description: description) { memory in
            for offset in memory.indices {
                let (x, channel) = (offset % stride / 4, offset % 4)
                guard x < size.width else {
                    memory[offset] = 0xA5
                    continue
                }
                switch channel {
                case 0: memory[offset] = format.blueFirst ? blue : red
                case 1: memory[offset] = green
                case 2: memory[offset] = format.blueFirst ? red : blue
                default: memory[offset] = 0
                }
            }
        }
    }

    private static func isContent(_ fit: PictureFit, x: Int, y: Int) -> Bool {
        (fit.x..<(fit.x + fit.content.width)).contains(x) && (fit.y..<(fit.y + fit.content.height)).contains(y)
    }

    @Test(
        "content fills its rectangle to the edge and borders are exactly black",
        arguments: [
            (PictureSize(width: 1280, height: 720), PictureSize(width: 1280, height: 720)),
            (PictureSize(width: 853, height: 481), PictureSize(width: 852, height: 480)),
            (PictureSize(width: 400, height: 700), PictureSize(width: 640, height: 360)),
            (PictureSize(width: 1021, height: 333), PictureSize(width: 322, height: 250)),
            (PictureSize(width: 64, height: 64), PictureSize(width: 1280, height: 720)),
        ],
        PixelFormat.allCases
    )
    func borders(sizes: (source: PictureSize, output: PictureSize), format: PixelFormat) {
        let frame = Self.frame(sizes.source, format: format, red: 255, green: 0, blue: 0)
        for (chroma, scale) in [(ChromaSampling.quarter, 2), (.full, 1)] {
            let scaler = PictureScaler(source: sizes.source, output: sizes.output, chroma: chroma)
            let picture = PlanarPicture(size: sizes.output, chroma: chroma)
            scaler.convert(frame, into: picture)
            #expect(Self.wrongPixels(of: picture, scaler.fit, scale: scale) == 0)
        }
    }

    /// - Parameter scale: Pixels per chroma sample, in each direction.
    private static func wrongPixels(of picture: PlanarPicture, _ fit: PictureFit, scale: Int) -> Int {
        var wrong = 0
        for y in 0..<picture.size.height {
            for x in 0..<picture.size.width {
                let chroma = y / scale * picture.chromaStride + x / scale
                let pixel = [picture.y[y * picture.lumaStride + x], picture.u[chroma], picture.v[chroma]].map(Int.init)
                // Full red in BT.709 limited range is 63, 102, 240; scaling may round it by one.
                let isRight =
                    isContent(fit, x: x, y: y)
                    ? zip(pixel, [63, 102, 240]).allSatisfy { abs($0 - $1) <= 1 }
                    : pixel == [16, 128, 128]
                if !isRight { wrong += 1 }
            }
        }
        return wrong
    }
}
