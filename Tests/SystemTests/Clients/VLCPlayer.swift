import Foundation
import Media
import TestSupport

/// VLC without a screen, driven by its remote control.
struct VLCPlayer: StreamPlayer {
    var testDescription: String { "VLC" }

    /// Whether this machine has it.
    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: "/usr/bin/vlc") }

    private static let options = [
        "--intf", "oldrc", "--rc-fake-tty", "--vout=vdummy", "--aout=adummy", "--no-audio", "--no-dbus",
        "--no-media-library",
    ]
    /// The messages that VLC prints for a sound stream. It misses a desktop's hotkeys, and fragments that count from 0.
    private static var talk: [Regex<Substring>] {
        [
            /\[\w+\] main interface error: no suitable interface module/,
            /\[\w+\] main libvlc error: interface "globalhotkeys,none" initialization failed/,
            /\[\w+\] mp4 demux: Fragment sequence discontinuity detected \d+ != 0/,
            // On a busy machine, half a second of a stream may have fewer pictures than VLC's H.265 decoder holds back.
            /\[\w+\] main decoder error: buffer deadlock prevented/,
        ]
    }

    /// Starts VLC, as another user than root, which VLC refuses.
    private static func start(_ arguments: [String]) throws -> TimedProgram {
        let arguments = options + arguments
        guard geteuid() == 0 else { return try TimedProgram("/usr/bin/vlc", arguments) }
        return try TimedProgram(
            "/usr/bin/setpriv",
            ["--reuid=nobody", "--regid=nogroup", "--clear-groups", "/usr/bin/vlc"] + arguments,
            // VLC can neither read nor write root's folders.
            environment: ["HOME": "/nonexistent", "XDG_RUNTIME_DIR": "/nonexistent"]
        )
    }

    func watch(_ stream: LiveStream, of relay: WatchedRelay) throws -> Showing {
        let program = try Self.start(
            // By default VLC buffers a second. With less than half a second its H.265 decoder complains. It does not
            // detect the format of bytes from a TCP port.
            ["--network-caching=500"]
                + (stream.format == .port ? ["--demux=\(stream.codec == .h264 ? "h264" : "hevc")"] : [])
                + [relay.url(stream)]
        )
        defer { program.end() }
        // VLC answers nothing before the stream is open.
        let first = try program.answer(to: "stats") { Self.shown($0, atLeast: 1) }
        let time = try program.answer(to: "get_time", Self.number)
        _ = try program.answer(to: "stats") { Self.shown($0, atLeast: enoughPictures) }
        // Read before the end, when VLC complains about pictures that it still holds.
        let messages = program.lines(on: .errors).filter { line in
            !Self.talk.contains { line.wholeMatch(of: $0) != nil }
        }
        // VLC reports the current time, in whole seconds. It has played since its start at most.
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

    /// An answer that is a number, after prompts.
    private static func number(_ line: String) -> Int? {
        line.wholeMatch(of: /(> )*(\d+)/).flatMap { Int($0.2) }
    }
}
