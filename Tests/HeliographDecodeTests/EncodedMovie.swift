import HeliographClient
import Media
import TestSupport

/// A movie that ffmpeg has made and encoded, and its pictures as ffmpeg decodes them.
struct EncodedMovie {
    let format: PictureFormat
    let units: [MediaUnit]
    /// The planes of each picture.
    let pictures: [[UInt8]]

    /// - Parameters:
    ///   - pixels: ffmpeg's name of the pixel format, such as `yuv444p`.
    ///   - every: A keyframe after so many pictures.
    init(_ codec: Codec, pixels: String = "yuv420p", width: Int = 322, height: Int = 182, every: Int = 10) throws {
        let encoder =
            codec == .h264
            ? [
                "libx264", "-tune", "zerolatency", "-x264-params",
                "keyint=\(every):scenecut=0:sliced-threads=1:repeat-headers=1",
            ]
            : [
                "libx265", "-tune", "zerolatency", "-x265-params",
                "keyint=\(every):scenecut=0:repeat-headers=1:log-level=none",
            ]
        let source = [
            "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=\(width)x\(height):rate=30", "-frames:v", "30",
        ]
        let stream = try FFmpeg.run(
            source + ["-pix_fmt", pixels, "-preset", "ultrafast", "-c:v"] + encoder
                + ["-f", FFmpeg.demuxer(codec), "pipe:1"]
        )
        let raw = try FFmpeg.run(
            ["-v", "error", "-f", FFmpeg.demuxer(codec), "-i", "pipe:0", "-fps_mode", "passthrough"]
                + ["-f", "rawvideo", "-pix_fmt", pixels, "pipe:1"],
            input: stream
        )
        let accessUnits = AccessUnits.split(stream, codec: codec)
        let format = PictureFormat(
            codec: codec == .h264 ? "avc3.42C01F" : "hev1.1.6.L93.90",
            width: width,
            height: height,
            parameterSets: ParameterSets(leading: accessUnits[0], codec: codec)?.bytes ?? []
        )
        self.format = format
        units = accessUnits.enumerated().map { number, bytes in
            Self.unit(bytes, format, number: number, isKeyframe: AccessUnits.isIDR(bytes, codec: codec))
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
