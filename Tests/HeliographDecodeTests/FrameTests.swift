import Foundation
import HeliographClient
import HeliographDecode
import Media
import TestSupport
import Testing

@Suite("Decoded frames as files and pixels")
struct FrameTests {
    private static func frame(_ pixels: String = "yuv420p", orientation: Int = 0) throws -> Frame {
        let movie = try EncodedMovie(.h264, pixels: pixels)
        var format = movie.format
        if orientation > 0 {
            format = PictureFormat(
                codec: format.codec,
                width: format.width,
                height: format.height,
                orientation: orientation,
                parameterSets: format.parameterSets
            )
        }
        let unit = EncodedMovie.unit(movie.units[0].bytes, format, number: 0, isKeyframe: true)
        return try #require(try HeliographDecode.PictureDecoder().decode(unit))
    }

    @Test("a YUV4MPEG2 file is what ffmpeg reads", arguments: ["yuv420p", "yuv444p"])
    func y4m(pixels: String) throws {
        let frame = try Self.frame(pixels)
        let file = frame.y4mHead(fps: 30) + frame.y4mFrame
        let raw = try FFmpeg.run(
            ["-v", "error", "-f", "yuv4mpegpipe", "-i", "pipe:0", "-f", "rawvideo", "-pix_fmt", pixels, "pipe:1"],
            input: file
        )
        let isEqual = raw == frame.raw
        #expect(isEqual)
    }

    @Test("a PNG has the frame's pixels", arguments: ["yuv420p", "yuv444p"])
    func png(pixels: String) throws {
        let frame = try Self.frame(pixels)
        let png = try #require(frame.png())
        let decoded = try FFmpeg.run(
            ["-v", "error", "-f", "png_pipe", "-i", "pipe:0", "-f", "rawvideo", "-pix_fmt", "bgr0", "pipe:1"],
            input: png
        )
        let own = frame.pixels()
        #expect(decoded.count == own.count)
        let isEqual = zip(decoded, own).enumerated().allSatisfy { $0.offset % 4 == 3 || $0.element.0 == $0.element.1 }
        #expect(isEqual, "the file has other pixels than the frame")
    }

    @Test("pixels are written within their rows, whatever the width", arguments: [16, 24, 30, 34, 40, 322, 330])
    func bounds(width: Int) throws {
        let movie = try EncodedMovie(.h264, width: width, height: 18)
        let frame = try #require(try HeliographDecode.PictureDecoder().decode(movie.units[0]))
        for stride in [width * 4, PixelConverter.columns(for: width) * 4] {
            var bytes = [UInt8](repeating: 7, count: stride * 18 + 256)
            bytes.withUnsafeMutableBufferPointer { buffer in
                guard let first = buffer.baseAddress else { return }
                PixelConverter().convert(frame, to: first, stride: stride)
            }
            let isKept = bytes.suffix(256).allSatisfy { $0 == 7 }
            // The last byte of each pixel is 255.
            let isFilled = (0..<18).allSatisfy { row in
                (0..<width).allSatisfy { bytes[row * stride + $0 * 4 + 3] == 255 }
            }
            #expect(isKept && isFilled, "a stride of \(stride)")
        }
    }

    @Test("colours are those of BT.709 in limited range, within 3")
    func colours() throws {
        let frame = try Self.frame("yuv444p")
        let (planes, pixels, count) = (frame.raw, frame.pixels(), 322 * 182)
        var worst = 0.0
        for index in 0..<count {
            let y = 255 / 219 * (Double(planes[index]) - 16)
            let (u, v) = (Double(planes[count + index]) - 128, Double(planes[2 * count + index]) - 128)
            // ITU-R BT.709, items 3.2 to 3.4, with 224 steps for chroma.
            let red = y + 255 / 224 * 1.5748 * v
            let blue = y + 255 / 224 * 1.8556 * u
            let green = y - 255 / 224 * (0.2126 * 1.5748 * v + 0.0722 * 1.8556 * u) / 0.7152
            for (place, exact) in [blue, green, red].enumerated() {
                worst = max(worst, abs(min(max(exact, 0), 255) - Double(pixels[index * 4 + place])))
            }
        }
        #expect(worst <= 3)
    }

    @Test("a turned picture is saved upright", arguments: [1, 2, 3])
    func orientation(turns: Int) throws {
        let (encoded, turned) = (try Self.frame(), try Self.frame(orientation: turns))
        #expect(turned.uprightSize == (turns == 2 ? (322, 182) : (182, 322)))
        let (before, after) = (encoded.pixels(), turned.pixels())
        func pixel(_ bytes: [UInt8], _ x: Int, _ y: Int, _ width: Int) -> ArraySlice<UInt8> {
            bytes[((y * width + x) * 4)..<((y * width + x) * 4 + 3)]
        }
        for (x, y) in [(0, 0), (10, 20), (321, 181), (200, 3)] {
            let place = [(x, y), (181 - y, x), (321 - x, 181 - y), (y, 321 - x)][turns]
            #expect(pixel(before, x, y, 322) == pixel(after, place.0, place.1, turned.uprightSize.width))
        }
    }

    @Test("equal pictures have equal hashes")
    func hash() throws {
        let (one, other) = (try Self.frame(), try Self.frame("yuv444p"))
        #expect(try one.hash == Self.frame().hash && one.hash != other.hash && one.hash.count == 64)
    }

    @Test("a scaled picture has the size that was asked for, and the mean of the whole one")
    func scaled() throws {
        let frame = try Self.frame()
        let small = frame.pixels(width: 40, height: 22)
        #expect(small.count == 40 * 22 * 4)
        func mean(_ bytes: [UInt8]) -> Double { Double(bytes.reduce(0) { $0 + Int($1) }) / Double(bytes.count) }
        #expect(abs(mean(small) - mean(frame.pixels())) < 3)
    }
}
