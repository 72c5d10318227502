import ArgumentParser
import CommandSupport
@preconcurrency import Glibc
import HeliographClient
import Packaging
import Subprocess
import SystemPackage

struct TalkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "talk",
        abstract: "Speaks to a device's microphone, until the file ends or Ctrl-C.",
        discussion: """
            Programs of the desktop record it like a microphone. The device needs the setting microphone, and the machine
            of this command ffmpeg, which reads every sound file.
              heliograph talk question.wav
              arecord -f cd | heliograph talk --device left -
            """
    )

    @Argument(help: "The sound file; - for standard input.", completion: .file())
    var file: String

    @OptionGroup var target: ControlTarget

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        try await CommandError.reporting {
            if file != "-", access(file, R_OK) != 0 {
                throw CommandError.failed("cannot read \(file): \(String(cString: strerror(errno)))")
            }
            try await target.control { [file] live in try await Speech(of: file, to: live).send() }
        }
    }
}

/// A sound file on its way to a device's microphone.
private struct Speech: Sendable {
    /// The duration of a packet.
    private static let packet = Duration.milliseconds(20)
    /// How late packets may be sent without a pause. The relay takes 0.5 s at once.
    private static let lateness = Duration.milliseconds(200)
    /// How long the last packets may take to the desktop, where they end with the speaker.
    private static let rest = Duration.milliseconds(300)

    private let file: String
    private let live: LiveSession

    init(of file: String, to live: LiveSession) { (self.file, self.live) = (file, live) }

    /// Sends the file's sound, each packet when it is due.
    func send() async throws {
        let outcome: ExecutionResult<Int, SequenceOutput, FileDescriptorOutput>
        do {
            outcome = try await Subprocess.run(
                .name("ffmpeg"),
                arguments: Arguments(arguments),
                input: .fileDescriptor(.standardInput, closeAfterSpawningProcess: false),
                output: .sequence,
                error: .currentStandardError
            ) { ffmpeg in try await send(ffmpeg.standardOutput) }
        } catch let error as SubprocessError {
            throw CommandError.failed("ffmpeg cannot be run: \(error). Install it: apt-get install ffmpeg")
        }
        guard case .exited(0) = outcome.terminationStatus, outcome.closureResult > 0 else {
            throw CommandError.failed("ffmpeg finds no sound in \(file)")
        }
        try await Task.sleep(for: Self.rest)
    }

    /// - Returns: How many packets there were.
    private func send(_ output: SubprocessOutputSequence) async throws -> Int {
        var (reader, count) = (OggPageReader(), 0)
        var due: ContinuousClock.Instant?
        for try await chunk in output {
            for page in try reader.append(chunk.withUnsafeBytes { Array($0) }) where page.position > 0 {
                for packet in page.packets {
                    // What comes late is caught up with a little: more would be left out.
                    let now = ContinuousClock.now
                    let instant = max(due ?? now, now - Self.lateness)
                    try await Task.sleep(until: instant, clock: .continuous)
                    try await live.speak(packet)
                    (due, count) = (instant + Self.packet, count + 1)
                }
            }
        }
        return count
    }

    /// The arguments that make ffmpeg write one channel of Opus, with a page for each packet.
    private var arguments: [String] {
        let input =
            file == "-"
            ? ["-probesize", "4096", "-analyzeduration", "0", "-i", "pipe:0"] : ["-nostdin", "-i", "file:\(file)"]
        return ["-v", "error"] + input + ["-vn", "-ac", "1", "-c:a", "libopus", "-b:a", "64k", "-application", "audio"]
            + ["-frame_duration", "20", "-page_duration", "20000", "-flush_packets", "1", "-f", "ogg", "pipe:1"]
    }
}
