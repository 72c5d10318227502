import Foundation
import Media
import Packaging
import TestSupport
import Testing

@Suite("JPEGs below each other in one")
struct JPEGStripTests {
    /// Returns baseline JPEGs of moving pictures, as ffmpeg makes them with the tables of the standard.
    private static func pictures(_ size: String, count: Int, sampling: String) throws -> [[UInt8]] {
        let scratch = try Scratch()
        _ = try Tool.run(
            "/usr/bin/ffmpeg",
            ["-v", "error", "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=1", "-frames:v", "\(count)"]
                + ["-pix_fmt", sampling, "-huffman", "default", "-q:v", "4", scratch.file("%02d.jpg").path]
        )
        return try (1...count).map { number in
            try [UInt8](Data(contentsOf: scratch.file(String(format: "%02d.jpg", number))))
        }
    }

    /// Returns the rows of a JPEG as another decoder shows them, each as bytes of luma.
    private static func rows(_ jpeg: [UInt8], width: Int) throws -> [[UInt8]] {
        let scratch = try Scratch()
        let file = try scratch.write(jpeg, to: "picture.jpg")
        let raw = scratch.file("raw")
        let said = try Programs.run(
            URL(fileURLWithPath: "/usr/bin/ffmpeg"),
            ["-v", "warning", "-i", file.path, "-vf", "extractplanes=y", "-f", "rawvideo", raw.path]
        )
        #expect(said.status == 0 && said.errors.isEmpty, "\(said.errors)")
        let bytes = [UInt8](try Data(contentsOf: raw))
        return stride(from: 0, to: bytes.count, by: width).map { Array(bytes[$0..<$0 + width]) }
    }

    @Test(
        "shows each picture where it should, bit for bit as alone",
        arguments: [("320x180", "yuvj420p"), ("96x170", "yuvj444p"), ("34x50", "yuvj422p")]
    )
    func pictures(_ size: String, _ sampling: String) throws {
        let sides = size.split(separator: "x").compactMap { Int($0) }
        let pictures = try Self.pictures(size, count: 11, sampling: sampling)
        var strip = try #require(JPEGStrip(pictures[0]))
        for picture in pictures.dropFirst() {
            let isTaken = strip.append(picture)
            #expect(isTaken)
        }
        #expect(strip.count == 11 && strip.size == PictureSize(width: sides[0], height: sides[1]))
        let all = try Self.rows(strip.bytes, width: sides[0])
        #expect(all.count == 11 * strip.rows)
        for (number, picture) in pictures.enumerated() {
            let alone = try Self.rows(picture, width: sides[0])
            #expect(Array(all[number * strip.rows..<number * strip.rows + sides[1]]) == alone, "picture \(number)")
        }
    }

    @Test("takes neither a picture of another size nor anything but baseline JPEGs")
    func others() throws {
        let picture = try Self.pictures("64x48", count: 1, sampling: "yuvj420p")[0]
        let other = try Self.pictures("64x64", count: 1, sampling: "yuvj420p")[0]
        var strip = try #require(JPEGStrip(picture))
        let isTaken = strip.append(other)
        #expect(!isTaken && strip.count == 1)
        #expect(JPEGStrip([]) == nil)
        for length in 0..<picture.count { #expect(JPEGStrip(Array(picture.prefix(length))) == nil) }
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            var broken = picture
            broken[Int.random(in: 0..<broken.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            _ = JPEGStrip(broken)?.bytes
            _ = strip.append(broken)
        }
    }

    @Test("ends when there is no room for another picture")
    func room() throws {
        let picture = try Self.pictures("32x4000", count: 1, sampling: "yuvj420p")[0]
        var strip = try #require(JPEGStrip(picture))
        var count = 1
        while strip.append(picture) { count += 1 }
        #expect(count == 65_535 / 4000)
    }
}
