import Foundation
import Media
import TestSupport
import Testing

@Suite("The tests' ffprobe")
struct FFmpegTests {
    @Test("may leave most of a stream unread, and the tests go on")
    func unread() throws {
        let scratch = try Scratch()
        let file = scratch.file("noise.h264")
        // A picture of noise exceeds a pipe's buffer, and ffprobe needs only about twenty pictures.
        _ = try Tool.run(
            "/usr/bin/ffmpeg",
            [
                "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=10:duration=10", "-vf",
                "noise=alls=100:allf=t", "-c:v", "libx264", "-preset", "ultrafast", "-crf", "10", "-f", "h264",
                file.path,
            ]
        )
        let stream = try Data(contentsOf: file)
        #expect(stream.count > 8 << 20)
        let properties = try FFmpeg.streamProperties(stream, codec: .h264)
        #expect(properties["width"] == "640" && properties["height"] == "360")
    }
}
