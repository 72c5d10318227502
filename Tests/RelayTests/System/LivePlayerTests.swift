import Foundation
import HeliographAPI
import Media
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

/// Tests of players on the real agent's live streams. For ffmpeg and ffprobe with containers, see ``ContainerTests``.
@Suite("Live players", .serialized)
struct LivePlayerTests {
    struct Stream: Sendable, CustomTestStringConvertible {
        var codec: Codec
        /// The last part of its path.
        var name: String
        /// FFmpeg's name of the format, as a person who plays it types it.
        var format: String
        /// The GStreamer elements that decode it.
        var elements: String
        var testDescription: String { "\(name), \(codec.rawValue)" }
    }

    private static let streams = [
        Stream(codec: .h264, name: "h264", format: "h264", elements: "h264parse ! avdec_h264"),
        Stream(codec: .h265, name: "h265", format: "hevc", elements: "h265parse ! avdec_h265"),
        Stream(codec: .h264, name: "ts", format: "mpegts", elements: "tsdemux ! h264parse ! avdec_h264"),
        Stream(codec: .h265, name: "ts", format: "mpegts", elements: "tsdemux ! h265parse ! avdec_h265"),
        Stream(codec: .h264, name: "mp4", format: "mp4", elements: "qtdemux ! h264parse ! avdec_h264"),
        Stream(codec: .h265, name: "mp4", format: "mp4", elements: "qtdemux ! h265parse ! avdec_h265"),
        Stream(codec: .h264, name: "mjpeg?fps=30", format: "mpjpeg", elements: "multipartdemux ! jpegdec"),
    ]

    /// Decodes pictures, and prints their number, size, how many were corrupt, and libav's messages.
    private static let pyAV = """
        import av, sys
        url, format, wanted = sys.argv[1], sys.argv[2], int(sys.argv[3])
        count = corrupt = 0
        with av.logging.Capture(False) as messages:
            container = av.open(url, format=format, timeout=20, options={"analyzeduration": "1000000"})
            container.streams.video[0].thread_type = "NONE"
            for picture in container.decode(video=0):
                count += 1
                corrupt += picture.is_corrupt
                if count == wanted:
                    break
            complaints = [text.strip() for level, _, text in messages if level <= av.logging.WARNING]
        print(count, f"{picture.width}x{picture.height}", corrupt, *complaints)
        """

    /// Runs `body` with a relay that has one session of each codec, and a function that returns a stream's address.
    private func withStreams(
        _ body: @escaping @Sendable (@escaping @Sendable (Stream) -> String) async throws -> Void
    ) async throws {
        try await RunningRelay.run {
            $0.devices[0].agentExecutable = Programs.product("capture-agent").path
        } _: { relay in
            let started = try await relay.post("/screencapture/broadcast/start", ["timeout": 60])
            #expect(started.status == 200, "\(started.text)")
            var sessions: [Codec: SessionID] = [:]
            for codec in Codec.allCases {
                let session: JSONValue = ["codec": .string(codec.rawValue), "width": 320, "height": 180]
                sessions[codec] = try await relay.startSession(session).id
            }
            let ids = sessions
            try await body { relay.url("/screencapture/\(ids[$0.codec] ?? 0)/stream.\($0.name)") }
        }
    }

    /// Runs a program, which must not complain, without blocking one of the threads that the relay also runs on.
    private func run(_ program: String, _ arguments: [String]) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try Tool.run(program, arguments, deadline: 60) })
            }
        }
    }

    @Test("ffprobe and ffmpeg play the bare streams and MJPEG without a warning")
    func ffmpeg() async throws {
        try await withStreams { url in
            for stream in Self.streams where !["ts", "mp4"].contains(stream.name) {
                // One second suffices for probing before playing.
                let input = ["-v", "warning", "-analyzeduration", "1000000", "-f", stream.format]
                let packets = try await run(
                    "/usr/bin/ffprobe",
                    input + [
                        "-read_intervals", "%+#15", "-show_entries", "packet=flags", "-of", "csv=p=0", url(stream),
                    ]
                )
                let flags = packets.split(separator: "\n")
                #expect(flags.count == 15, "\(stream)")
                #expect(flags.first?.hasPrefix("K") == true && !flags.contains { $0.contains("C") }, "\(stream)")
                let pictures = try await run(
                    "/usr/bin/ffmpeg",
                    input + ["-nostdin", "-xerror", "-i", url(stream), "-frames:v", "15", "-fps_mode", "passthrough"]
                        + ["-f", "framemd5", "-"]
                )
                #expect(pictures.split(separator: "\n").count { !$0.hasPrefix("#") } == 15, "\(stream)")
            }
        }
    }

    @Test("PyAV plays every format without a warning")
    func python() async throws {
        try await withStreams { url in
            for stream in Self.streams {
                // Debian's Python, which has the module.
                let outcome = try await run("/usr/bin/python3", ["-c", Self.pyAV, url(stream), stream.format, "15"])
                #expect(outcome == "15 320x180 0\n", "\(stream)")
            }
        }
    }

    @Test("mpv plays every format", .enabled(if: Effort.isWhole))
    func mpv() async throws {
        try await withStreams { url in
            for stream in Self.streams {
                let outcome = try await run(
                    "/usr/bin/mpv",
                    [
                        "--no-config", "--vo=null", "--ao=null", "--untimed", "--frames=30", "--msg-level=all=error",
                        "--demuxer-lavf-format=\(stream.format)", url(stream),
                    ]
                )
                #expect(!outcome.lowercased().contains("error"), "\(stream)")
            }
        }
    }

    @Test("GStreamer plays every format", .enabled(if: Effort.isWhole))
    func gStreamer() async throws {
        try await withStreams { url in
            for stream in Self.streams {
                let pipeline =
                    "souphttpsrc location=\(url(stream)) ! \(stream.elements) ! fakesink num-buffers=30"
                let outcome = try await run(
                    "/usr/bin/gst-launch-1.0",
                    ["-q"] + pipeline.split(separator: " ").map(String.init)
                )
                #expect(outcome.isEmpty, "\(stream)")
            }
        }
    }
}
