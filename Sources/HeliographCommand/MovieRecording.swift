import Glibc
import Media
import NIOCore
import Packaging
import Synchronization
import SystemPackage

/// A session's pictures on their way to an MP4 file.
///
/// The file plays however the recording breaks off: only whole pictures are in it.
final class MovieRecording: Recording {
    private struct State {
        var movie: MP4Recording
        var clock = RecordingClock()
        /// When the first picture came, on the recorder's clock, µs.
        var begun: Int64?
        var pictures = 0
        /// Of the file, in bytes.
        var size: Int64 = 0
        /// Set when the file takes no more.
        var isBroken = false
        /// The movie's length once it is complete, µs.
        var length: Int64?
    }

    /// How much longer than the duration to wait for the picture that shows it is over.
    private static let grace = Duration.milliseconds(100)

    private let path: String
    private let file: SystemPackage.FileDescriptor
    /// Longest it may be, µs.
    private let limit: Int64?
    private let state: Mutex<State>

    /// Opens `path`, replacing what is there.
    ///
    /// - Parameters:
    ///   - fps: Of the session.
    ///   - duration: How long the movie is to be, in s; nil for as long as it is recorded.
    init(path: String, codec: Codec, fps: Int, duration: Double?) throws(CommandError) {
        self.path = path
        limit = duration.map { Int64($0 * 1e6) }
        state = Mutex(State(movie: MP4Recording(codec: codec, fps: fps)))
        file = try .output(path)
        do {
            // Some of it is written last, at its beginning.
            try file.seek(offset: 0, from: .end)
        } catch {
            throw .failed("cannot write \(path): MP4 goes to files only")
        }
    }

    deinit { try? file.close() }

    /// Monotonic, µs.
    private static var now: Int64 { Int64(NIODeadline.now().uptimeNanoseconds / 1000) }

    func append(_ picture: AccessUnit) throws(CommandError) -> Bool {
        try state.withLock { state throws(CommandError) in
            let now = Self.now
            if let first = state.clock.first, let limit, picture.pts >= first + limit {
                state.clock.take(pts: picture.pts, now: now)
                return false
            }
            // Of a picture that cannot be packaged nothing is written; a player goes on at the next keyframe.
            guard let fragment = try? state.movie.append(picture) else { return true }
            try write(fragment, &state)
            state.clock.take(pts: picture.pts, now: now)
            state.begun = state.begun ?? now
            state.pictures += 1
            return true
        }
    }

    private func write(_ bytes: [UInt8], _ state: inout State) throws(CommandError) {
        do {
            try file.writeAll(toAbsoluteOffset: state.size, bytes)
        } catch {
            state.isBroken = true
            // What is there of the last picture.
            try? file.resize(to: state.size)
            throw .failed("cannot write \(path): \(error); it ends after \(state.pictures) pictures")
        }
        state.size += Int64(bytes.count)
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
                throw .failed("no pictures came, so there is no \(path)")
            }
            var end = state.clock.end(now: Self.now)
            if let limit { end = min(end, first + limit) }
            guard let ending = state.movie.ending(at: end) else { return }
            do {
                for patch in ending.patches {
                    try file.writeAll(toAbsoluteOffset: Int64(patch.offset), patch.bytes)
                }
                try file.writeAll(toAbsoluteOffset: state.size, ending.index)
            } catch {
                try? file.resize(to: state.size)
                throw .failed("cannot complete \(path): \(error); it plays, but has no index")
            }
            state.size += Int64(ending.index.count)
            state.length = max(end - first, 0)
        }
    }

    var summary: String {
        state.withLock { state in
            let line = "\(path): \(state.pictures) pictures, \(state.size) bytes"
            guard let length = state.length else { return "\(line), not complete" }
            return line + ", \(Summary.decimal(Double(length) / 1e6, places: 3)) s"
        }
    }
}
