import HeliographClient
import Media
import TestSupport

/// A movie that ffmpeg has made and encoded, and its pictures as ffmpeg decodes them.
struct EncodedMovie {
    let format: PictureFormat
    let units: [MediaUnit]
    /// The planes of each picture.
    let pictures: [[UInt8]]

    /// - Parameter pixels: ffmpeg's name of the pixel format, such as `yuv444p`.
    init(_ codec: Codec, pixels: String = "yuv420p", width: Int = 322, height: Int = 182) throws {
        let settings = SourceSettings(
            name: "movie",
            encoder: codec == .h264 ? .x264 : .x265,
            size: PictureSize(width: width, height: height),
            pixelFormat: pixels,
            // Several slices, and parameter sets with each keyframe, as an agent sends them.
            parameters: codec == .h264 ? "threads=4:sliced-threads=1:repeat-headers=1" : "",
            keyframes: [0, 10, 20],
            pictures: 30
        )
        let source = try SourceStream(settings)
        let raw = try FFmpeg.run(
            ["-v", "error", "-f", FFmpeg.demuxer(codec), "-i", "pipe:0", "-fps_mode", "passthrough"]
                + ["-f", "rawvideo", "-pix_fmt", pixels, "pipe:1"],
            input: Array(source.accessUnits.joined())
        )
        let format = PictureFormat(
            codec: codec == .h264 ? "avc3.42C01F" : "hev1.1.6.L93.90",
            width: width,
            height: height,
            parameterSets: ParameterSets(leading: source.accessUnits[0], codec: codec)?.bytes ?? []
        )
        self.format = format
        units = source.accessUnits.enumerated().map { number, bytes in
            Self.unit(bytes, format, number: number, isKeyframe: source.keyframes.contains(number))
        }
        let size = raw.count / 30
        pictures = stride(from: 0, to: raw.count, by: size).map { Array(raw[$0..<($0 + size)]) }
    }

    static func unit(_ bytes: [UInt8], _ format: PictureFormat, number: Int, isKeyframe: Bool) -> MediaUnit {
        MediaUnit(
            content: .picture(format),
            pts: Int64(number) * 33_333,
            isKeyframe: isKeyframe,
            captured: 0,
            relayed: 0,
            received: 0,
            bytes: bytes
        )
    }
}
