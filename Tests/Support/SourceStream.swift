import Foundation
package import Media

/// The source and settings of a test stream.
package struct SourceSettings: Sendable, CustomStringConvertible {
    package enum Encoder: Sendable {
        case x264, x265, openh264

        package var codec: Codec { self == .x265 ? .h265 : .h264 }
    }

    package var name: String
    package var encoder: Encoder
    /// A source of ffmpeg's lavfi without its size and rate.
    package var input: String
    package var size: PictureSize
    package var pixelFormat: String
    package var preset: String
    /// For `-x264-params` or `-x265-params`, after those that every stream of this encoder has.
    package var parameters: String
    /// The numbers of the keyframes: some adjacent, some far apart.
    package var keyframes: Set<Int>
    package var pictures: Int

    package var description: String { name }

    package init(
        name: String,
        encoder: Encoder = .x264,
        input: String = "testsrc2",
        size: PictureSize = PictureSize(width: 320, height: 180),
        pixelFormat: String = "yuv420p",
        preset: String = "ultrafast",
        parameters: String = "",
        keyframes: Set<Int> = [0, 1, 2, 9, 11, 12, 30],
        pictures: Int = 60
    ) {
        self.name = name
        self.encoder = encoder
        self.input = input
        self.size = size
        self.pixelFormat = pixelFormat
        self.preset = preset
        self.parameters = parameters
        self.keyframes = keyframes
        self.pictures = pictures
    }
}

/// A real encoder's stream.
package struct SourceStream {
    package let codec: Codec
    package let accessUnits: [[UInt8]]
    /// Indices of the access units with an IDR picture.
    package let keyframes: [Int]

    package init(_ settings: SourceSettings) throws {
        codec = settings.encoder.codec
        let scratch = try Scratch()
        let output = scratch.file("encoded")
        switch settings.encoder {
        case .x264, .x265: try Self.encodeByFFmpeg(settings, to: output)
        case .openh264: try Self.encodeByOpenH264(settings, scratch: scratch, to: output)
        }
        let stream = try [UInt8](Data(contentsOf: output))
        accessUnits = AccessUnits.split(stream, codec: codec)
        keyframes = accessUnits.indices.filter { [accessUnits, codec] in
            AccessUnits.isIDR(accessUnits[$0], codec: codec)
        }
    }

    private static func input(_ settings: SourceSettings) -> [String] {
        let parts = settings.input.split(separator: ",", maxSplits: 1).map(String.init)
        let separator = parts[0].contains("=") ? ":" : "="
        let filters = parts.count > 1 ? ",\(parts[1])" : ""
        return [
            "-v", "error", "-nostdin", "-f", "lavfi",
            "-i", "\(parts[0])\(separator)size=\(settings.size):rate=30\(filters)",
            "-frames:v", "\(settings.pictures)", "-pix_fmt", settings.pixelFormat,
        ]
    }

    private static func encodeByFFmpeg(_ settings: SourceSettings, to output: URL) throws {
        let forced = settings.keyframes.map { "eq(n,\($0))" }.joined(separator: "+")
        let isH264 = settings.encoder == .x264
        let common =
            isH264
            ? "keyint=infinite:scenecut=0:bframes=0:ref=1:threads=1"
            : "log-level=error:keyint=-1:scenecut=0:bframes=0:ref=1:temporal-mvp=0:open-gop=0:repeat-headers=1:frame-threads=1"
        let parameters = settings.parameters.isEmpty ? common : "\(common):\(settings.parameters)"
        _ = try Tool.run(
            "/usr/bin/ffmpeg",
            input(settings) + [
                "-c:v", isH264 ? "libx264" : "libx265", "-preset", settings.preset, "-tune", "zerolatency",
                "-forced-idr", "1", "-force_key_frames", "expr:\(forced)",
                isH264 ? "-x264-params" : "-x265-params", parameters,
                "-f", isH264 ? "h264" : "hevc", output.path,
            ]
        )
    }

    private static func encodeByOpenH264(_ settings: SourceSettings, scratch: Scratch, to output: URL) throws {
        let raw = scratch.file("raw")
        _ = try Tool.run("/usr/bin/ffmpeg", input(settings) + ["-f", "rawvideo", raw.path])
        _ = try Tool.run(
            Programs.product("ReferenceCodecs").path,
            ["encode-h264", "\(settings.size.width)", "\(settings.size.height)", "9", raw.path, output.path]
        )
    }
}
