import Foundation
import Media
import TestSupport

/// VLC without a screen, as cvlc is, asked over its remote control.
struct VLCPlayer: StreamPlayer {
    var testDescription: String { "VLC" }

    /// Whether there is one on this machine.
    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: "/usr/bin/vlc") }

    private static let options = [
        "--intf", "oldrc", "--rc-fake-tty", "--vout=vdummy", "--aout=adummy", "--no-audio", "--no-dbus",
        "--no-media-library",
    ]
    /// What VLC says of a sound stream: it looks for keys of a desktop that is not there, and for fragments that count
    /// from 0.
    private static var talk: [Regex<Substring>] {
        [
            /\[\w+\] main interface error: no suitable interface module/,
            /\[\w+\] main libvlc error: interface "globalhotkeys,none" initialization failed/,
            /\[\w+\] mp4 demux: Fragment sequence discontinuity detected \d+ != 0/,
            // Half a second of a stream can be fewer pictures than its decoder of H.265 holds back, if the machine is
            // busy.
            /\[\w+\] main decoder error: buffer deadlock prevented/,
        ]
    }

    /// Starts VLC; it refuses to run as root.
    private static func start(_ arguments: [String]) throws -> TimedProgram {
        let arguments = options + arguments
        guard geteuid() == 0 else { return try TimedProgram("/usr/bin/vlc", arguments) }
        return try TimedProgram(
            "/usr/bin/setpriv",
            ["--reuid=nobody", "--regid=nogroup", "--clear-groups", "/usr/bin/vlc"] + arguments,
            // Not root's, which VLC can neither read nor write.
            environment: ["HOME": "/nonexistent", "XDG_RUNTIME_DIR": "/nonexistent"]
        )
    }

    func watch(_ stream: LiveStream, of relay: WatchedRelay) throws -> Showing {
        let program = try Self.start(
            // By default VLC waits for a second of the stream; with less than half a second its decoder complains of
            // H.265. It does not look for the format of bytes from a TCP port.
            ["--network-caching=500"]
                + (stream.format == .port ? ["--demux=\(stream.codec == .h264 ? "h264" : "hevc")"] : [])
                + [relay.url(stream)]
        )
        defer { program.end() }
        // It answers no question before the stream is open.
        let first = try program.answer(to: "stats") { Self.shown($0, atLeast: 1) }
        let time = try program.answer(to: "get_time", Self.number)
        _ = try program.answer(to: "stats") { Self.shown($0, atLeast: enoughPictures) }
        // Before it is ended: then it complains of pictures that it still had.
        let messages = program.lines(on: .errors).filter { line in
            !Self.talk.contains { line.wholeMatch(of: $0) != nil }
        }
        // It tells the time of now, in whole seconds; it has played since its start at most.
        let firstTime = max(0, Double(time.value) - time.after / .seconds(1))
        return Showing(firstPicture: first.after, firstTime: firstTime, messages: messages)
    }

    func duration(of file: URL) throws -> Double {
        let program = try Self.start(["--start-paused", file.path])
        defer { program.end() }
        // 0 until the file is open. Whole seconds, rounded down.
        let seconds = try program.answer(to: "get_length") { line in Self.number(line).flatMap { $0 > 0 ? $0 : nil } }
        return Double(seconds.value) + 0.5
    }

    private static func shown(_ line: String, atLeast count: Int) -> Bool? {
        guard let number = line.firstMatch(of: /frames displayed : +(\d+)/).flatMap({ Int($0.1) }) else { return nil }
        return number >= count ? true : nil
    }

    /// An answer that is a number, behind prompts.
    private static func number(_ line: String) -> Int? {
        line.wholeMatch(of: /(> )*(\d+)/).flatMap { Int($0.2) }
    }
}
