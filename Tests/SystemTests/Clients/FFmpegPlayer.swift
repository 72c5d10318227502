import Foundation
import TestSupport

/// ffmpeg, and ffprobe for files.
struct FFmpegPlayer: StreamPlayer {
    var testDescription: String { "ffmpeg" }

    func watch(_ stream: LiveStream, of relay: WatchedRelay) throws -> Showing {
        let program = try TimedProgram(
            "/usr/bin/ffmpeg",
            ["-v", "warning", "-nostdin", "-xerror", "-analyzeduration", "\(analyzeDuration)"]
                // Otherwise ffmpeg moves the first picture to 0. A transport stream's times are those of its program
                // clock.
                + (stream.format == .mp4 ? ["-copyts"] : [])
                + ["-i", relay.url(stream), "-frames:v", "\(enoughPictures)", "-fps_mode", "passthrough"]
                + ["-flush_packets", "1", "-f", "framecrc", "-"]
        )
        defer { program.end() }
        // "#tb 0: 1/30", then "0, dts, pts, …" for each picture.
        let unit = try program.next("a time base") { line in
            line.wholeMatch(of: /#tb 0: (\d+)\/(\d+)/).flatMap { match in
                Double(match.1).flatMap { above in Double(match.2).map { above / $0 } }
            }
        }.value
        let first = try program.next("a picture") { line in
            line.prefixMatch(of: /0, +-?\d+, +(-?\d+),/).flatMap { Double($0.1) }
        }
        let status = try program.waitForEnd()
        let shown = program.lines(on: .standard).count { !$0.hasPrefix("#") }
        return Showing(
            firstPicture: first.after,
            firstTime: first.value * unit,
            messages: program.lines(on: .errors)
                + (status == 0 && shown == enoughPictures ? [] : ["status \(status) after \(shown) pictures"])
        )
    }

    func duration(of file: URL) throws -> Double {
        let output = try Tool.run(
            "/usr/bin/ffprobe",
            ["-v", "fatal", "-show_entries", "format=duration", "-of", "csv=p=0", file.path]
        )
        guard let duration = Double(output.trimmingCharacters(in: .newlines)) else {
            throw NeverCame(description: "ffprobe's duration: \(output)")
        }
        return duration
    }
}
