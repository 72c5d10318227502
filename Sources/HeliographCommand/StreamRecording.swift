import Glibc
import Media
import NIOCore
import Synchronization
import SystemPackage

/// A session's pictures on their way to a file or a pipe, as a bare Annex B byte stream.
///
/// Only whole pictures are in it, unless a reader takes a part of one and no more.
final class StreamRecording: Recording {
    private struct Figures {
        var bytes = 0
        var first: NIODeadline?
        var last: NIODeadline?
    }

    /// What a pipe takes at once where poll(2) calls it writable: PIPE_BUF, pipe(7).
    private static let pieceLength = 4096
    /// How often a reader that takes nothing is asked about, ms.
    private static let patience: Int32 = 100

    private let name: String
    private let file: SystemPackage.FileDescriptor
    private let figures = Mutex(Figures())

    /// Opens `path`, replacing what is there; `-` is standard output.
    init(path: String) throws(CommandError) {
        name = path == "-" ? "standard output" : path
        file = path == "-" ? .standardOutput : try .output(path)
    }

    deinit { if file != .standardOutput { try? file.close() } }

    /// Writes `picture`. A reader of the output that has gone ends the recording in good order; one that takes nothing holds it until the task is cancelled.
    func append(_ picture: AccessUnit) throws(CommandError) -> Bool {
        var left = picture.bytes[...]
        do {
            while !left.isEmpty {
                guard waitUntilWritable() else { return false }
                try file.writeAll(left.prefix(Self.pieceLength))
                left = left.dropFirst(Self.pieceLength)
            }
        } catch Errno.brokenPipe {
            return false
        } catch {
            // What is there of the picture. Standard output gives nothing back: where it is a file, others may have written to it before.
            if file != .standardOutput { try? file.resize(to: Int64(figures.withLock { $0.bytes })) }
            throw .failed("cannot write \(name): \(error)")
        }
        figures.withLock { figures in
            let now = NIODeadline.now()
            figures.bytes += picture.bytes.count
            figures.first = figures.first ?? now
            figures.last = now
        }
        return true
    }

    /// Returns false where the task is cancelled before.
    private func waitUntilWritable() -> Bool {
        var place = pollfd(fd: file.rawValue, events: Int16(POLLOUT), revents: 0)
        while poll(&place, 1, Self.patience) == 0 {
            if Task.isCancelled { return false }
        }
        return true
    }

    // It lasts from the command's beginning.
    func remaining(of duration: Duration) -> Duration? { nil }

    func finish() {}

    var summary: String {
        figures.withLock { figures in
            guard let first = figures.first, let last = figures.last else { return "\(name): no pictures came" }
            let seconds = Double((last - first).nanoseconds) / 1e9
            var line = "\(name): \(figures.bytes) bytes in \(Summary.decimal(seconds)) s"
            if seconds > 0 { line += ", \(Summary.decimal(Double(figures.bytes) * 8e-6 / seconds, places: 2)) Mbit/s" }
            return line
        }
    }
}
