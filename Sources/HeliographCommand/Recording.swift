import NIOCore
import Synchronization
import SystemPackage

/// Where a watched stream goes.
final class Recording: Sendable {
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
        do {
            file =
                path == "-"
                ? .standardOutput
                : try .open(
                    FilePath(path),
                    .writeOnly,
                    options: [.create, .truncate],
                    permissions: [.ownerReadWrite, .groupRead, .otherRead]
                )
        } catch {
            throw .failed("cannot write \(path): \(error)")
        }
    }

    deinit { if file != .standardOutput { try? file.close() } }

    /// Writes `bytes`.
    ///
    /// - Returns: false when the reader of the output has gone, which ends a recording in good order.
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

    /// A line of figures.
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
