import NIOCore
import Packaging
import Synchronization

/// A recording of a session's sound as an Ogg stream, to a file or a pipe.
final class SoundRecording: Recording {
    private struct State {
        /// The last page that was written, and when the first one was.
        var last: OggPage?
        var begun: NIODeadline?
        /// Whether a page may have been written in part.
        var isCut = false
    }

    /// How long to wait beyond the duration for the sound that belongs to it. Silence comes up to 0.3 s late.
    private static let grace = TimeAmount.milliseconds(500)

    private let output: StreamRecording
    /// The position at which the recording is long enough; `nil` for no limit.
    private let limit: Int64?
    private let state = Mutex(State())

    /// Opens `path`, replacing an existing file; `-` is standard output.
    ///
    /// - Parameter duration: The recording's length, s; `nil` for no limit.
    init(path: String, duration: Double?) throws(CommandError) {
        output = try StreamRecording(path: path)
        limit = duration.map { Int64(OggOpus.preSkip) + Int64(($0 * 48_000).rounded()) }
    }

    /// Adds the next page.
    ///
    /// - Returns: `false` if the recording takes no more.
    func append(_ page: OggPage) throws(CommandError) -> Bool {
        guard try output.append(page.bytes) else {
            state.withLock { $0.isCut = true }
            return false
        }
        state.withLock { state in
            state.last = page
            state.begun = state.begun ?? .now()
        }
        return limit.map { page.position < $0 } ?? true
    }

    func remaining(of duration: Duration) -> Duration? {
        guard let begun = state.withLock({ $0.begun }) else { return nil }
        let remaining = duration - .nanoseconds((.now() - begun - Self.grace).nanoseconds)
        return remaining > .zero ? remaining : nil
    }

    func finish() throws(CommandError) {
        let (last, isCut) = state.withLock { ($0.last, $0.isCut) }
        // A reader that takes nothing must not keep the command.
        guard let last, !isCut, !last.flags.contains(.end), output.isWritable else { return }
        _ = try output.append(last.ending.bytes)
    }

    var summary: String { output.summary }
}
