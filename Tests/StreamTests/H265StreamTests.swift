import Media
import TestSupport
import Testing

/// Real H.265 streams with repeats, decoded by libavcodec and by libde265.
@Suite("Repeats in H.265 streams")
struct H265StreamTests {
    static let sources = [
        SourceSettings(name: "no WPP, no SAO", encoder: .x265, parameters: "wpp=0:sao=0"),
        SourceSettings(
            name: "WPP, SAO, delimiters",
            encoder: .x265,
            preset: "superfast",
            parameters: "wpp=1:sao=1:aud=1"
        ),
        SourceSettings(
            name: "three slices",
            encoder: .x265,
            input: "mandelbrot",
            size: PictureSize(width: 352, height: 288),
            preset: "superfast",
            parameters: "slices=3:wpp=1"
        ),
        SourceSettings(
            name: "tree blocks of 64, cropped",
            encoder: .x265,
            size: PictureSize(width: 426, height: 238),
            preset: "medium",
            parameters: "ctu=64"
        ),
        SourceSettings(
            name: "tree blocks of 16, short picture order counts",
            encoder: .x265,
            input: "life=mold=10:ratio=0.3",
            size: PictureSize(width: 200, height: 120),
            parameters: "ctu=16:log2-max-poc-lsb=4"
        ),
        SourceSettings(
            name: "10 bits, weighted prediction in a fade",
            encoder: .x265,
            input: "testsrc2,fade=in:0:60",
            pixelFormat: "yuv420p10le",
            preset: "medium",
            parameters: "weightp=1"
        ),
        SourceSettings(name: "4:4:4", encoder: .x265, pixelFormat: "yuv444p", parameters: "wpp=0"),
        SourceSettings(
            name: "720p",
            encoder: .x265,
            input: "mandelbrot",
            size: PictureSize(width: 1280, height: 720),
            parameters: "crf=24",
            pictures: 36
        ),
        SourceSettings(
            name: "1080p",
            encoder: .x265,
            size: PictureSize(width: 1920, height: 1080),
            pictures: 20
        ),
    ]

    @Test("every picture decodes exactly as without repeats", arguments: sources)
    func exact(_ settings: SourceSettings) throws {
        try Campaign.run(settings)
    }
}
