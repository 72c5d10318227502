import CommandSupport
import Glibc
import HeliographAPI
import Media
import NIOCore
import Packaging
import Synchronization
import SystemPackage

extension SessionReport {
    /// Returns the codec of the session's pictures.
    func knownCodec() throws(CommandError) -> Codec {
        guard let known = Codec(rawValue: codec) else {
            throw .failed("session \(id) has a codec that this release does not know: \(codec)")
        }
        return known
    }
}

/// The destination of a watched session.
protocol Recording: Sendable {
    /// Returns how long to wait until the recording has its full length; `nil` if it has, or if nothing has arrived.
    func remaining(of duration: Duration) -> Duration?

    /// Ends the recording.
    func finish() throws(CommandError)

    /// A summary in one line.
    var summary: String { get }
}

/// The destination of a session's pictures.
protocol PictureRecording: Recording {
    /// Adds the session's next unit.
    ///
    /// - Parameter sound: The stream's audio tracks.
    /// - Returns: `false` if the recording takes no more.
    func append(_ unit: AccessUnit, sound: [MediaTrack]) throws(CommandError) -> Bool
}

/// A recording of a session's pictures and sound as an MP4 file.
///
/// The file can be played however the recording ends: it grows by a fragment of complete pictures each second.
final class MovieRecording: PictureRecording {
    private struct State {
        var movie: HybridMovie<[UInt8]>
        var clock = RecordingClock()
        /// When the first picture arrived, on the recorder's clock, µs.
        var begun: Int64?
        /// The number of pictures in the file.
        var pictures = 0
        /// The number of pictures that wait to be written.
        var waiting = 0
        /// The file's size, bytes.
        var size: Int64 = 0
        /// Whether the file takes no more.
        var isBroken = false
        /// The complete movie's length, µs; `nil` while it is recorded.
        var length: Int64?
    }

    /// How long to wait beyond the duration for the picture that shows it is over.
    private static let grace = Duration.milliseconds(100)

    private let path: String
    private let file: SystemPackage.FileDescriptor
    /// The longest movie, µs.
    private let limit: Int64?
    private let state: Mutex<State>

    /// Opens `path`, replacing an existing file.
    ///
    /// - Parameters:
    ///   - fps: The session's frame rate.
    ///   - duration: The movie's length, s; `nil` for no limit.
    init(path: String, codec: Codec, fps: Int, duration: Double?) throws(CommandError) {
        self.path = path
        limit = duration.map { Int64($0 * 1e6) }
        state = Mutex(State(movie: HybridMovie(tracks: [.video(codec)], fps: fps)))
        file = try .output(path)
        do {
            // The file's header is completed last, so the position must return to the end.
            try file.seek(offset: 0, from: .end)
        } catch {
            throw .failed("cannot write \(path): MP4 goes to files only")
        }
    }

    deinit { try? file.close() }

    /// The monotonic time, µs.
    private static var now: Int64 { Int64(NIODeadline.now().uptimeNanoseconds / 1000) }

    func append(_ unit: AccessUnit, sound: [MediaTrack]) throws(CommandError) -> Bool {
        try state.withLock { state throws(CommandError) in
            let (now, isVideo) = (Self.now, unit.header.track == MediaTrack.videoID)
            if let first = state.clock.first, let limit, unit.pts >= first + limit {
                // Only a picture shows that the time is over.
                if isVideo { state.clock.take(pts: unit.pts, now: now) }
                return !isVideo
            }
            if !state.movie.hasBegun { state.movie.tracks = Array(state.movie.tracks.prefix(1)) + sound }
            if state.movie.isFragmentDue(at: unit.pts) { try writeFragment(&state) }
            // A unit that cannot be packaged is left out; a player continues at the next keyframe.
            do { try state.movie.append(unit) } catch { return true }
            guard isVideo, state.movie.hasBegun else { return true }
            state.clock.take(pts: unit.pts, now: now)
            state.begun = state.begun ?? now
            state.waiting += 1
            return true
        }
    }

    /// Whether a picture has arrived.
    var hasBegun: Bool { state.withLock { $0.begun != nil } }

    private func writeFragment(_ state: inout State) throws(CommandError) {
        let bytes = state.movie.takeBytes()
        do {
            try file.writeAll(toAbsoluteOffset: state.size, bytes)
        } catch {
            state.isBroken = true
            // Removes the incomplete fragment.
            try? file.resize(to: state.size)
            throw .failed("cannot write \(path): \(error); it ends after \(state.pictures) pictures")
        }
        state.size += Int64(bytes.count)
        state.pictures += state.waiting
        state.waiting = 0
    }

    func remaining(of duration: Duration) -> Duration? {
        state.withLock { state in
            guard let begun = state.begun else { return nil }
            let remaining = duration + Self.grace - .microseconds(Self.now - begun)
            return remaining > .zero ? remaining : nil
        }
    }

    func finish() throws(CommandError) {
        try state.withLock { state throws(CommandError) in
            guard !state.isBroken, state.length == nil else { return }
            guard let first = state.clock.first else {
                unlink(path)
                throw .failed("no pictures arrived, so \(path) was not written")
            }
            var end = state.clock.end(now: Self.now)
            if let limit { end = min(end, first + limit) }
            try writeFragment(&state)
            do {
                for step in state.movie.ending(at: end) {
                    try file.writeAll(toAbsoluteOffset: Int64(step.offset), step.bytes)
                    state.size = max(state.size, Int64(step.offset) + Int64(step.bytes.count))
                }
            } catch {
                try? file.resize(to: state.size)
                throw .failed("cannot complete \(path): \(error); it plays, but has no index")
            }
            state.length = max(end - first, 0)
        }
    }

    var summary: String {
        state.withLock { state in
            let line = "\(path): \(state.pictures) pictures, \(state.size) bytes"
            guard let length = state.length else { return "\(line), not complete" }
            return line + ", \(Figure.text(Double(length) / 1e6, places: 3)) s"
        }
    }
}

/// A recording of a session's pictures as a bare Annex B byte stream, or of other pieces of bytes, to a file or a pipe.
///
/// It only contains whole pieces, unless a reader takes a part of one and leaves.
final class StreamRecording: PictureRecording {
    private struct Figures {
        var bytes = 0
        var first: NIODeadline?
        var last: NIODeadline?
    }

    /// The bytes that a pipe takes at once if poll(2) calls it writable: PIPE_BUF, pipe(7).
    private static let pieceLength = 4096
    /// The interval for checking on a reader that takes nothing, ms.
    private static let patience: Int32 = 100

    private let name: String
    private let file: SystemPackage.FileDescriptor
    private let figures = Mutex(Figures())

    /// Opens `path`, replacing an existing file; `-` is standard output.
    init(path: String) throws(CommandError) {
        name = path == "-" ? "standard output" : path
        file = path == "-" ? .standardOutput : try .output(path)
    }

    deinit { if file != .standardOutput { try? file.close() } }

    func append(_ picture: AccessUnit, sound: [MediaTrack]) throws(CommandError) -> Bool {
        try append(picture.bytes)
    }

    /// Writes a piece. The recording ends cleanly if the output's reader leaves. A reader that takes nothing blocks it
    /// until the task is cancelled.
    ///
    /// - Returns: `false` if the recording takes no more.
    func append(_ piece: [UInt8]) throws(CommandError) -> Bool {
        var left = piece[...]
        do {
            while !left.isEmpty {
                guard waitUntilWritable() else { return false }
                try file.writeAll(left.prefix(Self.pieceLength))
                left = left.dropFirst(Self.pieceLength)
            }
        } catch Errno.brokenPipe {
            return false
        } catch {
            // Removes the incomplete piece. Standard output is not truncated, because it may be a file that others
            // have written to.
            if file != .standardOutput { try? file.resize(to: Int64(figures.withLock { $0.bytes })) }
            throw .failed("cannot write \(name): \(error)")
        }
        figures.withLock { figures in
            let now = NIODeadline.now()
            figures.bytes += piece.count
            figures.first = figures.first ?? now
            figures.last = now
        }
        return true
    }

    /// Whether the output takes bytes now.
    var isWritable: Bool {
        var place = pollfd(fd: file.rawValue, events: Int16(POLLOUT), revents: 0)
        return poll(&place, 1, 0) == 1
    }

    /// Returns `false` if the task is cancelled before.
    private func waitUntilWritable() -> Bool {
        var place = pollfd(fd: file.rawValue, events: Int16(POLLOUT), revents: 0)
        while poll(&place, 1, Self.patience) == 0 {
            if Task.isCancelled { return false }
        }
        return true
    }

    // The command measures the duration from its start instead.
    func remaining(of duration: Duration) -> Duration? { nil }

    func finish() {}

    var summary: String {
        figures.withLock { figures in
            guard let first = figures.first, let last = figures.last else { return "\(name): nothing arrived" }
            let seconds = Double((last - first).nanoseconds) / 1e9
            var line = "\(name): \(figures.bytes) bytes in \(Figure.text(seconds)) s"
            if seconds > 0 { line += ", \(Figure.text(Double(figures.bytes) * 8e-6 / seconds, places: 2)) Mbit/s" }
            return line
        }
    }
}
