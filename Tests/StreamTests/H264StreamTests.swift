import Media
import TestSupport
import Testing

/// Real H.264 streams with repeats, decoded by libavcodec and by openh264.
@Suite("Repeats in H.264 streams")
struct H264StreamTests {
    static let sources = [
        SourceSettings(name: "CAVLC"),
        SourceSettings(name: "CAVLC, three slices, delimiters", preset: "ultrafast", parameters: "slices=3:aud=1"),
        SourceSettings(
            name: "CABAC, 8x8 transform",
            input: "mandelbrot",
            size: PictureSize(width: 352, height: 288),
            preset: "medium",
            parameters: "weightp=0"
        ),
        SourceSettings(
            name: "CABAC, four slices, cropped",
            input: "life=mold=10:ratio=0.3",
            size: PictureSize(width: 426, height: 238),
            preset: "veryfast",
            parameters: "slices=4:weightp=0"
        ),
        SourceSettings(
            name: "weighted prediction in a fade",
            input: "testsrc2,fade=in:0:60",
            preset: "medium",
            parameters: "weightp=1"
        ),
        SourceSettings(name: "smaller than two macroblocks", size: PictureSize(width: 34, height: 18)),
        SourceSettings(
            name: "720p as the agent encodes",
            input: "mandelbrot",
            size: PictureSize(width: 1280, height: 720),
            parameters: "crf=21:vbv-maxrate=6000:vbv-bufsize=3000",
            pictures: 36
        ),
        SourceSettings(
            name: "1080p, CABAC",
            size: PictureSize(width: 1920, height: 1080),
            preset: "veryfast",
            parameters: "weightp=0",
            pictures: 20
        ),
        SourceSettings(name: "another encoder, openh264", encoder: .openh264),
    ]

    @Test("every picture decodes exactly as without repeats", arguments: sources)
    func exact(_ settings: SourceSettings) throws {
        try Campaign.run(settings)
    }

    @Test(
        "so does every picture with the colour of each pixel, which openh264 does not know",
        arguments: [
            SourceSettings(name: "4:4:4, CAVLC", pixelFormat: "yuv444p"),
            SourceSettings(
                name: "4:4:4, CABAC, cropped",
                size: PictureSize(width: 426, height: 238),
                pixelFormat: "yuv444p",
                preset: "medium",
                parameters: "weightp=0"
            ),
        ]
    )
    func fullChroma(_ settings: SourceSettings) throws {
        try Campaign.run(settings, by: [.libavcodec])
    }
}
