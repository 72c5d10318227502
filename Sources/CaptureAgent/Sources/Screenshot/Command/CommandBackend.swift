import Media

/// Takes each screenshot by running a program.
final class CommandBackend: ScreenshotBackend {
    let kind = "command"
    let descriptor: Int32? = nil
    let pace = ShotSchedule.Pace.halfTime

    private let command: ScreenshotCommand
    private let output = CommandOutput(limit: CommandRun.largestOutput)
    private var pool = ShotPool<Void>(attach: { _ in }, detach: { _ in })

    init(_ command: ScreenshotCommand) {
        self.command = command
    }

    func processEvents() {}

    func take(_: ShotMoment, stop: Event) throws(ShotError) -> Shot? {
        do throws(CommandError) {
            guard try CommandRun.run(command, into: output, stop: stop) else { return nil }
        } catch {
            throw failed(error.cause, error.reason)
        }
        let captured = MonotonicClock.now
        let picture = try readable { () throws(ImageError) in try Images.read(output.bytes) }
        let description = FrameDescription(
            size: picture.size,
            stride: picture.size.width * PixelFormat.bytesPerPixel,
            format: .bgrx
        )
        let memory = try pool.take(description).memory
        try readable { () throws(ImageError) in try picture.draw(into: memory.first, stride: description.stride)
        }
        return Shot(memory: memory, captured: captured)
    }

    private func readable<Value>(_ body: () throws(ImageError) -> Value) throws(ShotError) -> Value {
        do throws(ImageError) {
            return try body()
        } catch {
            throw failed("command_failed", "its output is \(error.reason)")
        }
    }

    func close() {}

    private func failed(_ cause: String, _ reason: String) -> ShotError {
        .failed(cause: cause, detail: "The screenshot command \(command.words.first ?? "") failed: \(reason).")
    }
}

/// A program that writes an image of the screen to its standard output: PNG, JPEG or PPM.
package struct ScreenshotCommand: Sendable, Equatable {
    /// The program (a path, or a name in PATH) and its arguments. They do not pass through a shell.
    package var words: [String]
    /// How long the program may take for one image, in ns.
    package var timeout: UInt64

    package init(words: [String], timeout: UInt64) {
        self.words = words
        self.timeout = timeout
    }
}
