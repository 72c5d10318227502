import Foundation
import TestSupport

/// mpv.
struct MPVPlayer: StreamPlayer {
    var testDescription: String { "mpv" }

    private static let options = [
        "--no-config", "--vo=null", "--ao=null", "--msg-level=all=warn,cplayer=info,statusline=status",
    ]
    /// The messages that mpv prints for every stream.
    private static var talk: [Regex<Substring>] {
        [/.*Video +--vid=1.*/, /VO: \[null\].*/, /Exiting\.\.\. \(End of file\)/]
    }
    /// The messages that mpv prints for formats without times.
    private static let withoutTimes: Set = [
        "[lavf] This format is marked by FFmpeg as having no timestamps!",
        "[lavf] FFmpeg will likely make up its own broken timestamps. For",
        "[lavf] video streams you can correct this with:",
        "[lavf]     --no-correct-pts --fps=VALUE",
        "[lavf]     --no-correct-pts --container-fps-override=VALUE",
        "[lavf] with VALUE being the real framerate of the stream. You can",
        "[lavf] expect seeking and buffering estimation to be generally",
        "[lavf] broken as well.",
        "No video PTS! Making something up. Using 30.000000 FPS.",
        "Ignoring further missing PTS warnings.",
    ]

    func watch(_ stream: LiveStream, of relay: WatchedRelay) throws -> Showing {
        let program = try TimedProgram(
            "/usr/bin/mpv",
            Self.options + [
                "--length=1", "--term-status-msg=AT ${=time-pos}",
                "--demuxer-lavf-analyzeduration=\(Double(analyzeDuration) / 1e6)", relay.url(stream),
            ]
        )
        defer { program.end() }
        let first = try program.next("a picture") { $0.hasPrefix("VO: ") ? true : nil }
        // The status line.
        let time = try program.next("a time", on: .errors) { line in
            line.firstMatch(of: /AT (-?[\d.]+)/).flatMap { Double($0.1) }
        }
        let status = try program.waitForEnd()
        let messages = program.lines(on: .standard).filter { line in
            !Self.talk.contains { line.wholeMatch(of: $0) != nil }
                && (stream.format.hasTimes || !Self.withoutTimes.contains(line))
        }
        return Showing(
            firstPicture: first.after,
            firstTime: time.value,
            messages: messages + (status == 0 ? [] : ["status \(status)"])
        )
    }

    func duration(of file: URL) throws -> Double {
        let program = try TimedProgram(
            "/usr/bin/mpv",
            Self.options + ["--frames=1", "--term-status-msg=LASTS ${=duration}", file.path]
        )
        defer { program.end() }
        return try program.next("a duration", on: .errors) { line in
            line.firstMatch(of: /LASTS ([\d.]+)/).flatMap { Double($0.1) }
        }.value
    }
}
