import CommandSupport
import Media
import NIOCore
import Packaging
import Synchronization

/// A recording of a session's sound as an Ogg stream or as ADTS, to a file or a pipe.
final class SoundRecording: Recording {
    private struct State {
        /// The last page that was written.
        var last: OggPage?
        /// When the first piece was written.
        var begun: NIODeadline?
        /// Whether a piece may have been written in part.
        var isCut = false
        /// The samples of the frames that were written.
        var samples: Int64 = 0
    }

    /// How long to wait beyond the duration for the sound that belongs to it. Silence comes up to 0.3 s late.
    private static let grace = TimeAmount.milliseconds(500)

    private let output: StreamRecording
    /// The samples of a recording that is long enough; `nil` for no limit.
    private let limit: Int64?
    private let state = Mutex(State())

    /// Opens `path`, replacing an existing file; `-` is standard output.
    ///
    /// - Parameter duration: The recording's length, s; `nil` for no limit.
    init(path: String, duration: Double?) throws(CommandError) {
        output = try StreamRecording(path: path)
        limit = duration.map { Int64(($0 * 48_000).rounded()) }
    }

    /// Adds the next page.
    ///
    /// - Returns: `false` if the recording takes no more.
    func append(_ page: OggPage) throws(CommandError) -> Bool {
        guard try append(page.bytes) else { return false }
        state.withLock { $0.last = page }
        return limit.map { page.position - Int64(OggOpus.preSkip) < $0 } ?? true
    }

    /// Adds the next ADTS frame.
    ///
    /// - Returns: `false` if the recording takes no more.
    func append(_ frame: ADTSFrame) throws(CommandError) -> Bool {
        guard try append(frame.bytes) else { return false }
        let samples = state.withLock { state in
            state.samples += Int64(AACParameters.packetSamples)
            return state.samples
        }
        return limit.map { samples < $0 } ?? true
    }

    private func append(_ bytes: [UInt8]) throws(CommandError) -> Bool {
        guard try output.append(bytes) else {
            state.withLock { $0.isCut = true }
            return false
        }
        state.withLock { $0.begun = $0.begun ?? .now() }
        return true
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
