import Foundation
package import Media
import Synchronization

/// ffmpeg as the decoder of a live stream. It reports the counter on the newest decoded picture.
///
/// ffmpeg outputs a picture when the next one begins.
package final class LiveDecoder: @unchecked Sendable {
    // Unchecked because `fed` is touched by the one thread that feeds, and the process by nobody after the initialiser.

    /// The size to which pictures are scaled down. The counter stays readable.
    private static let size = PictureSize(width: 320, height: 180)

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let newest = Mutex<Int?>(nil)
    private var fed = 0

    package init(_ codec: Codec) throws {
        let size = Self.size
        process.executableURL = URL(fileURLWithPath: "/usr/bin/ffmpeg")
        process.arguments = [
            "-v", "error", "-err_detect", "explode", "-fflags", "nobuffer", "-flags", "low_delay", "-threads", "1",
            "-probesize", "32", "-f", FFmpeg.demuxer(codec), "-i", "pipe:0", "-fps_mode", "passthrough",
            "-vf", "scale=\(size.width):\(size.height):flags=area:in_range=tv:out_range=pc",
            "-f", "rawvideo", "-pix_fmt", "gray", "-flush_packets", "1", "pipe:1",
        ]
        process.standardInput = input
        process.standardOutput = output
        try Programs.start(process)
        let thread = Thread { [self] in read() }
        thread.start()
    }

    /// Accepts those of a viewer's pictures that are new.
    package func feed(_ pictures: [ScrcpyViewer.Picture]) throws {
        let bytes = pictures[fed...].flatMap(\.bytes)
        fed = pictures.count
        try input.fileHandleForWriting.write(contentsOf: Data(bytes))
    }

    /// The counter of the newest decoded picture; `nil` if there is none or it shows none.
    package var value: Int? { newest.withLock { $0 } }

    package func end() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    private func read() {
        let byteCount = Self.size.width * Self.size.height
        while let picture = try? output.fileHandleForReading.read(upToCount: byteCount), picture.count == byteCount {
            newest.withLock { $0 = Pictures.counter(luma: [UInt8](picture), size: Self.size) }
        }
    }
}
