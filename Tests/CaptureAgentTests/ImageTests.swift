import CaptureAgent
import Foundation
import Media
import TestSupport
import Testing

@Suite("Images")
struct ImageTests {
    /// Reads and draws an image. Returns its size, and the red, green and blue of each pixel.
    private static func read(_ bytes: [UInt8]) throws -> (size: PictureSize, colours: [UInt8]) {
        try bytes.withUnsafeBytes { bytes in
            let picture = try Images.read(bytes)
            let stride = picture.size.width * 4
            var pixels = [UInt8](repeating: 0, count: stride * picture.size.height)
            try pixels.withUnsafeMutableBytes { try picture.draw(into: $0.baseAddress!, stride: stride) }
            var colours: [UInt8] = []
            for pixel in Swift.stride(from: 0, to: pixels.count, by: 4) {
                colours += pixels[pixel..<(pixel + 3)].reversed()
            }
            return (picture.size, colours)
        }
    }

    private static let pixels: [UInt8] = [255, 0, 0, 0, 255, 0, 0, 0, 255, 10, 20, 30, 32, 9, 35, 255, 254, 253]

    private static func ppm(_ head: String, _ pixels: [UInt8] = Self.pixels) -> [UInt8] { Array(head.utf8) + pixels }

    @Test(
        "PPM is read with whatever white space and comments",
        arguments: ["P6\n3 2\n255\n", "P6 3\t2\r\n255 ", "P6#x\n#3\n3 #2\n2\n#\n255\n", "P6\u{B}00003\u{C}2 255\n"]
    )
    func ppm(head: String) throws {
        let picture = try Self.read(Self.ppm(head))
        #expect(picture.size == PictureSize(width: 3, height: 2))
        #expect(picture.colours == Self.pixels)
    }

    @Test(
        "PPM that is not what it says is refused",
        arguments: [
            "P6", "P6\n", "P6\n3", "P6\n3 2", "P6\n3 2\n255", "P63 2\n255\n", "P6\n-3 2\n255\n", "P6\n3 2\n65535\n",
            "P6\n3 2\n0\n",
            "P6\n4 2\n255\n", "P6\n3 1\n255\n", "P6\n0 2\n255\n", "P6\n99999 99999\n255\n",
            "P6\n999999999999999999999 2\n255\n",
            "P6\n3 2\n255#\n", "P6\n3 2\n255x", "P3\n3 2\n255\n", "P6\n#", "",
        ]
    )
    func brokenPPM(head: String) {
        #expect(throws: ImageError.self) { try Self.read(head.isEmpty ? [] : Self.ppm(head)) }
    }

    @Test("sides of more than 8192 are refused before any memory is taken for them")
    func tooLarge() {
        #expect(throws: ImageError.self) {
            try Self.read(Self.ppm("P6\n8193 2\n255\n", [UInt8](repeating: 0, count: 8193 * 2 * 3)))
        }
    }

    /// Returns an image of two colours in the format of the file name's extension, made by ffmpeg.
    private static func encoded(_ name: String, _ options: [String] = []) throws -> [UInt8] {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString)-\(name)")
        defer { try? FileManager.default.removeItem(at: file) }
        let outcome = try Programs.run(
            URL(fileURLWithPath: "/usr/bin/ffmpeg"),
            [
                "-v", "error", "-f", "lavfi", "-i", "color=red:s=64x48:d=0.1,drawbox=x=32:w=32:h=48:color=blue:t=fill",
                "-frames:v", "1",
            ]
                + options + [file.path]
        )
        try #require(outcome.status == 0, "\(outcome.errors)")
        return [UInt8](try Data(contentsOf: file))
    }

    @Test(
        "PNG and JPEG are read",
        arguments: [
            ("a.png", []), ("a.png", ["-pix_fmt", "rgba"]),
            ("a.png", ["-pix_fmt", "rgb48be"]),
            ("a.jpg", ["-q:v", "1", "-pix_fmt", "yuvj444p"]), ("a.jpg", ["-q:v", "1", "-pix_fmt", "yuvj420p"]),
        ]
    )
    func others(name: String, options: [String]) throws {
        let picture = try Self.read(Self.encoded(name, options))
        #expect(picture.size == PictureSize(width: 64, height: 48))
        for (x, colour) in [(8, [255, 0, 0]), (56, [0, 0, 255])] {
            let place = (24 * 64 + x) * 3
            let found = picture.colours[place..<(place + 3)]
            #expect(zip(found, colour).allSatisfy { abs(Int($0) - $1) < 8 }, "\(found)")
        }
    }

    @Test("PNG and JPEG that are cut off, and damaged heads, are refused", arguments: ["a.png", "a.jpg"])
    func damaged(name: String) throws {
        let whole = try Self.encoded(name)
        for length in Array(0..<min(64, whole.count)) + [whole.count / 2, whole.count * 3 / 4] {
            #expect(throws: ImageError.self, "\(length) bytes") { try Self.read(Array(whole.prefix(length))) }
        }
    }

    @Test("damage anywhere is survived")
    func fuzz() throws {
        var random = SeededGenerator(seed: 7)
        for whole in [try Self.encoded("a.png"), try Self.encoded("a.jpg"), Self.ppm("P6\n3 2\n255\n")] {
            for _ in 0..<Effort.choose(500, whole: 20_000) {
                var damaged = whole
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    damaged[Int.random(in: 0..<damaged.count, using: &random)] = .random(in: 0...255, using: &random)
                }
                // Either result is correct if it returns.
                _ = try? Self.read(damaged)
            }
        }
    }
}
