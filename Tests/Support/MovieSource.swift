package import Foundation

/// MP4 files of a test picture and a tone, made by ffmpeg.
package enum MovieSource {
    /// Makes a file of 320x180 at 25 pictures a second with B-pictures, and the folder that contains it.
    ///
    /// - Parameters:
    ///   - tags: Such as `title`.
    ///   - cover: A JPEG to embed.
    ///   - more: Further arguments of ffmpeg for the file.
    package static func make(
        _ file: URL,
        seconds: Int = 2,
        tags: [String: String] = [:],
        cover: URL? = nil,
        _ more: [String] = []
    ) throws {
        let inputs = [
            "-f", "lavfi", "-i", "testsrc=size=320x180:rate=25:duration=\(seconds)", "-f", "lavfi", "-i",
            "sine=duration=\(seconds)",
        ]
        let picture = cover.map { ["-i", $0.path, "-map", "0", "-map", "1", "-map", "2"] } ?? []
        let codecs = ["-c:v:0", "libx264", "-preset", "ultrafast", "-bf", "2", "-g", "25", "-c:a", "aac"]
        let cover = cover == nil ? [] : ["-c:v:1", "copy", "-disposition:v:1", "attached_pic"]
        try TaggedFile.write(file, inputs + picture + codecs + cover + more, tags: tags)
    }
}
