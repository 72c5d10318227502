import CLinux
import Glibc

/// The reason why a program gave no image.
package struct CommandError: Error, Equatable {
    /// A cause as in ``SourceError``.
    package let cause: String
    /// The reason, for people.
    package let reason: String
}

/// One run of a program, in its own process group so that everything it has started ends with it.
package enum CommandRun {
    /// The most bytes that one image may have: the largest in the plainest format, with some to spare.
    package static let largestOutput = 256 << 20
    /// The most bytes of its last line to report.
    private static let mostSaid = 300

    /// Runs a program to its end and collects its standard output. Its standard input is empty.
    ///
    /// - Returns: `false` if `stop` was set first; the program has then been ended.
    package static func run(
        _ command: ScreenshotCommand,
        into output: CommandOutput,
        stop: Event
    ) throws(CommandError) -> Bool {
        output.clear()
        let child = try CommandProcess(command.words)
        defer { child.end() }
        let said = CommandOutput(limit: 1 << 16)
        let deadline = MonotonicClock.now + command.timeout
        var pipes = [(descriptor: child.output, sink: output), (descriptor: child.errors, sink: said)]
        while true {
            let now = MonotonicClock.now
            let ready = Poll.wait(
                for: ([stop.descriptor, child.ending] + pipes.map(\.descriptor)).map { Poll.Interest($0) },
                timeout: deadline > now ? deadline - now : 0
            )
            if ready[0] { return false }
            // Checked before the pipes are read, because everything the program wrote before its end is then in them.
            let hasEnded = ready[1]
            for pipe in pipes {
                switch pipe.sink.readAll(from: pipe.descriptor) {
                case .empty: break
                case .ended: pipes.removeAll { $0.descriptor == pipe.descriptor }
                case .full where pipe.sink === said:
                    said.clear()
                case .full:
                    throw CommandError(
                        cause: "command_failed",
                        reason: "it writes more than \(largestOutput >> 20) MiB"
                    )
                }
            }
            // A process that it leaves running may hold the pipes open.
            if hasEnded { break }
            if MonotonicClock.now >= deadline {
                let seconds = Double(command.timeout) / 1e9
                throw CommandError(cause: "command_timeout", reason: "it takes more than \(seconds) s")
            }
        }
        if let failure = child.failure() {
            let last = lastLine(of: said)
            throw CommandError(cause: "command_failed", reason: last.isEmpty ? failure : "\(failure); it said: \(last)")
        }
        return true
    }

    private static func lastLine(of said: CommandOutput) -> String {
        let lines = said.bytes.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") })
        return lines.last.map { String(decoding: $0.suffix(mostSaid), as: UTF8.self) } ?? ""
    }
}
