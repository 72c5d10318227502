import NIOCore
import Synchronization
import SystemPackage

/// A session's byte stream on its way to a file or a pipe.
final class StreamRecording: Recording {
    private struct Figures {
        var bytes = 0
        var first: NIODeadline?
        var last: NIODeadline?
    }

    private let name: String
    private let file: SystemPackage.FileDescriptor
    private let figures = Mutex(Figures())

    /// Opens `path`, replacing what is there; `-` is standard output.
    init(path: String) throws(CommandError) {
        name = path == "-" ? "standard output" : path
        file = path == "-" ? .standardOutput : try .output(path)
    }

    deinit { if file != .standardOutput { try? file.close() } }

    /// Writes `bytes`; a reader of the output that has gone ends the recording in good order.
    func append(_ bytes: ByteBuffer) throws(CommandError) -> Bool {
        do {
            try file.writeAll(bytes.readableBytesView)
        } catch Errno.brokenPipe {
            return false
        } catch {
            throw .failed("cannot write \(name): \(error)")
        }
        figures.withLock { figures in
            let now = NIODeadline.now()
            figures.bytes += bytes.readableBytes
            figures.first = figures.first ?? now
            figures.last = now
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
