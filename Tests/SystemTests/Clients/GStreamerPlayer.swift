import Foundation
import Media
import TestSupport

/// GStreamer's gst-launch-1.0.
struct GStreamerPlayer: StreamPlayer {
    var testDescription: String { "GStreamer" }

    private static func start(_ pipeline: String) throws -> TimedProgram {
        try TimedProgram(
            "/usr/bin/gst-launch-1.0",
            // With the sink's report of each picture.
            ["--verbose"] + pipeline.split(separator: " ").map(String.init)
        )
    }

    func watch(_ stream: LiveStream, of relay: WatchedRelay) throws -> Showing {
        let source =
            stream.format == .port
            ? "tcpclientsrc host=127.0.0.1 port=\(relay.port(stream))" : "souphttpsrc location=\(relay.url(stream))"
        // decodebin holds JPEG pictures back for 3 s, because they have no times.
        let elements = stream.format == .motionJPEG ? "multipartdemux ! jpegdec" : "decodebin"
        let program = try Self.start("\(source) ! \(elements) ! fakesink silent=false num-buffers=\(enoughPictures)")
        defer { program.end() }
        let first = try program.next("a picture") { line in
            line.firstMatch(of: Self.picture).map { String($0.start) }
        }
        let status = try program.waitForEnd()
        let complaints = program.lines(on: .standard).filter { $0.hasPrefix("WARNING") || $0.hasPrefix("ERROR") }
        let shown = program.lines(on: .standard).count { $0.contains(Self.picture) }
        return Showing(
            firstPicture: first.after,
            firstTime: Self.seconds(first.value),
            messages: program.lines(on: .errors) + complaints
                + (status == 0 && shown == enoughPictures ? [] : ["status \(status) after \(shown) pictures"])
        )
    }

    func duration(of file: URL) throws -> Double {
        let program = try Self.start("filesrc location=\(file.path) ! decodebin ! fakesink silent=false sync=false")
        defer { program.end() }
        _ = try program.waitForEnd()
        let pictures = program.lines(on: .standard).compactMap { line in
            line.firstMatch(of: Self.picture).map { (start: String($0.start), duration: String($0.duration)) }
        }
        guard let first = pictures.first.flatMap({ Self.seconds($0.start) }), let last = pictures.last,
            let start = Self.seconds(last.start), let more = Self.seconds(last.duration)
        else { throw NeverCame(description: "pictures of GStreamer") }
        return start + more - first
    }

    private static var picture: Regex<(Substring, start: Substring, duration: Substring)> {
        /last-message = chain .* pts: (?<start>[\w:.]+), duration: (?<duration>[\w:.]+),/
    }

    /// Parses a time such as "0:00:01.466666652". Returns `nil` for "none".
    private static func seconds(_ time: String) -> Double? {
        let parts = time.split(separator: ":").compactMap { Double($0) }
        return parts.count == 3 ? (parts[0] * 60 + parts[1]) * 60 + parts[2] : nil
    }
}
