import Foundation

/// Files of music and movies, made by ffmpeg.
enum TaggedFile {
    /// Makes a file, and the folder that contains it.
    ///
    /// - Parameters:
    ///   - arguments: The inputs of ffmpeg, and how it writes the file.
    ///   - tags: Such as `title`.
    static func write(_ file: URL, _ arguments: [String], tags: [String: String]) throws {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        let metadata = tags.sorted { $0.key < $1.key }.flatMap { ["-metadata", "\($0.key)=\($0.value)"] }
        _ = try Tool.run("/usr/bin/ffmpeg", ["-v", "error"] + arguments + metadata + [file.path])
    }
}
