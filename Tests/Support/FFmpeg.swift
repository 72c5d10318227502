import Foundation
package import Media

/// ffmpeg as an independent decoder.
package enum FFmpeg {
    package struct Failure: Error {
        package var status: Int32
        package var messages: String
    }

    /// ``decodeLuma(_:codec:size:)`` of an H.264 stream.
    package static func decodeLuma(h264 stream: some Collection<UInt8>, size: PictureSize) throws -> [[UInt8]] {
        try decodeLuma(stream, codec: .h264, size: size)
    }

    /// Returns the luma planes of every picture of a stream, in full range and not turned. Pictures of another size
    /// than `size` are scaled to it.
    ///
    /// - Throws: If the decoder finds any fault.
    package static func decodeLuma(
        _ stream: some Collection<UInt8>,
        codec: Codec,
        size: PictureSize
    ) throws -> [[UInt8]] {
        let raw = try run(
            [
                "-v", "error", "-err_detect", "explode", "-noautorotate", "-f", demuxer(codec), "-i", "pipe:0",
                "-fps_mode",
                "passthrough",
                "-vf", "scale=\(size.width):\(size.height):flags=area:in_range=tv:out_range=pc",
                "-f", "rawvideo", "-pix_fmt", "gray", "pipe:1",
            ],
            input: Data(stream)
        )
        let byteCount = size.width * size.height
        return stride(from: 0, through: raw.count - byteCount, by: byteCount).map {
            [UInt8](raw[$0..<($0 + byteCount)])
        }
    }

    /// Returns the pixels of every picture of a stream, one after the other: blue, green, red.
    package static func decodePixels(_ stream: some Collection<UInt8>, codec: Codec) throws -> [UInt8] {
        let arguments = [
            "-v", "error", "-err_detect", "explode", "-f", demuxer(codec), "-i", "pipe:0", "-fps_mode", "passthrough",
            "-vf", "scale=in_color_matrix=bt709:in_range=tv:flags=accurate_rnd", "-f", "rawvideo", "-pix_fmt", "bgr24",
            "pipe:1",
        ]
        return try run(arguments, input: Array(stream))
    }

    /// Returns the samples of a file's first audio track, mixed to one channel.
    ///
    /// - Throws: If the decoder finds any fault.
    package static func decodeSound(of path: String) throws -> [Float] {
        let raw = try run(
            ["-v", "error", "-i", path, "-map", "0:a:0", "-f", "f32le", "-ac", "1", "pipe:1"],
            input: Data()
        )
        return raw.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    }

    /// Decodes a file's first audio track.
    ///
    /// - Throws: If ffmpeg says anything, even a warning.
    package static func decodeSoundQuietly(of path: String) throws {
        // From a pipe, because ffmpeg warns that it cannot know the length of a file in ADTS.
        let arguments = ["-v", "warning", "-i", "pipe:0", "-map", "0:a:0", "-f", "null", "-"]
        _ = try run(arguments, input: Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// Returns the luma of an image file.
    package static func luma(ofPictureAt path: String, size: PictureSize) throws -> [UInt8] {
        [UInt8](
            try run(
                [
                    "-v", "error", "-i", path, "-vf",
                    "scale=\(size.width):\(size.height):out_color_matrix=bt709:out_range=pc,format=yuvj420p,extractplanes=y",
                    "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "gray", "pipe:1",
                ],
                input: Data()
            )
        )
    }

    /// Returns what ffprobe reports about the stream, by its own names.
    package static func streamProperties(
        _ stream: some Collection<UInt8>,
        codec: Codec
    ) throws -> [String: String] {
        let lines = try run(
            ["-v", "error", "-f", demuxer(codec), "-show_streams", "-of", "default=noprint_wrappers=1", "pipe:0"],
            input: Data(stream),
            program: "/usr/bin/ffprobe"
        )
        let pairs = String(decoding: lines, as: UTF8.self).split(separator: "\n").compactMap { line in
            let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
            return parts.count == 2 ? (parts[0], parts[1]) : nil
        }
        return Dictionary(pairs) { first, _ in first }
    }

    /// Returns the number of pictures in a stream.
    ///
    /// - Parameters:
    ///   - format: The container by ffmpeg's name; `nil` for a bare stream.
    ///   - warnings: Whether warnings count.
    /// - Throws: If the decoder finds any fault or prints a warning.
    package static func pictureCount(
        _ stream: some Collection<UInt8>,
        codec: Codec,
        format: String? = nil,
        warnings: Bool = true
    ) throws -> Int {
        let lines = try run(
            [
                "-v", warnings ? "warning" : "error", "-threads", "1", "-xerror", "-err_detect", "explode", "-f",
                format ?? demuxer(codec), "-i", "pipe:0", "-fps_mode", "passthrough", "-f", "framecrc", "pipe:1",
            ],
            input: Data(stream)
        )
        return String(decoding: lines, as: UTF8.self).split(separator: "\n").count { !$0.hasPrefix("#") }
    }

    /// Returns the clockwise quarter turns that ffprobe reads from each picture of a stream.
    package static func orientations(_ stream: some Collection<UInt8>, codec: Codec) throws -> [Int] {
        let frames = try run(
            ["-v", "error", "-f", demuxer(codec), "-show_frames", "-of", "json", "pipe:0"],
            input: Data(stream),
            program: "/usr/bin/ffprobe"
        )
        let answer = try JSONSerialization.jsonObject(with: frames) as? [String: Any]
        return (answer?["frames"] as? [[String: Any]] ?? []).map { frame in
            let data = frame["side_data_list"] as? [[String: Any]] ?? []
            let rotation = data.compactMap { $0["rotation"] as? Int }.first ?? 0
            // ffprobe counts degrees anticlockwise, from -180.
            return (-rotation / 90 + 4) % 4
        }
    }

    /// ffmpeg's name of the codec's byte stream format.
    package static func demuxer(_ codec: Codec) -> String {
        switch codec {
        case .h264: "h264"
        case .h265: "hevc"
        }
    }

    /// Runs ffmpeg with bytes on its standard input, and returns what it writes.
    package static func run(_ arguments: [String], input: [UInt8] = []) throws -> [UInt8] {
        [UInt8](try run(arguments, input: Data(input)) as Data)
    }

    private static func run(_ arguments: [String], input: Data, program: String = "/usr/bin/ffmpeg") throws -> Data {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        let (standardInput, standardOutput, standardError) = (Pipe(), Pipe(), Pipe())
        process.standardInput = standardInput
        process.standardOutput = standardOutput
        process.standardError = standardError
        try process.run()
        // Each pipe has its own thread, or a full one would block the others.
        let feeding = Thread {
            // ffprobe may end before it has read everything. That must not end the tests by SIGPIPE.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            try? standardInput.fileHandleForWriting.write(contentsOf: input)
            try? standardInput.fileHandleForWriting.close()
        }
        feeding.start()
        let messages = Collector(standardError.fileHandleForReading)
        let output = standardOutput.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let text = String(decoding: messages.wait(), as: UTF8.self)
        guard process.terminationStatus == 0, text.isEmpty else {
            throw Failure(status: process.terminationStatus, messages: text)
        }
        return output
    }
}
