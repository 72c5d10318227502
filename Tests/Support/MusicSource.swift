package import Foundation

/// MP3 files of a tone, made by ffmpeg.
package enum MusicSource {
    /// Makes a file, and the folder that contains it.
    ///
    /// - Parameters:
    ///   - tags: Such as `title`.
    ///   - cover: A JPEG to embed.
    ///   - more: Further arguments of ffmpeg for the file.
    package static func make(
        _ file: URL,
        seconds: Int = 1,
        tags: [String: String] = [:],
        cover: URL? = nil,
        _ more: [String] = []
    ) throws {
        let picture = cover.map { ["-i", $0.path, "-map", "0", "-map", "1", "-c:v", "copy"] } ?? []
        let sound = ["-f", "lavfi", "-i", "sine=duration=\(seconds)"]
        try TaggedFile.write(file, sound + picture + ["-c:a", "libmp3lame"] + more, tags: tags)
    }

    /// Makes a small JPEG for a cover.
    package static func makeCover(_ file: URL) throws {
        _ = try Tool.run(
            "/usr/bin/ffmpeg",
            ["-v", "error", "-f", "lavfi", "-i", "testsrc=size=64x64:rate=1", "-frames:v", "1", file.path]
        )
    }
}
