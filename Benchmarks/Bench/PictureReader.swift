import Foundation
import TestSupport

/// A stream's pictures, as Benchmarks/PictureReader reports them.
struct PictureReader {
    struct Picture {
        /// The end of its access unit, in bytes from the beginning of the stream.
        var end: Int
        /// The counter's value; `nil` if it cannot be read.
        var value: Int?
        var decodeNs: Int64
    }

    var pictures: [Picture] = []
    /// The PSNR of the luma against the scene, dB.
    var psnr: Double?

    static func read(_ stream: URL, scene: String) throws -> PictureReader {
        let outcome = try Programs.run(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", #"exec "$0" "$1" 5 <"$2""#, Programs.product("PictureReader").path, scene, stream.path]
        )
        guard outcome.status == 0 else { throw BenchError(description: outcome.errors) }
        var result = PictureReader()
        for line in outcome.output.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2, words[0] == "psnr" { result.psnr = Double(words[1]) }
            guard words.count == 3, let end = Int(words[0]), let value = Int(words[1]), let took = Int64(words[2])
            else { continue }
            result.pictures.append(Picture(end: end, value: value < 0 ? nil : value, decodeNs: took))
        }
        return result
    }

    static func read(_ bytes: [UInt8], scene: String) throws -> PictureReader {
        let folder = try Scratch()
        return try withExtendedLifetime(folder) { try read(folder.write(bytes, to: "stream"), scene: scene) }
    }
}
