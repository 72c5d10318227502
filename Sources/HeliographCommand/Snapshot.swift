@preconcurrency import Glibc
import HeliographAPI
import NIOCore
import SystemPackage

/// A picture of a session's screen on its way to a file.
struct Snapshot {
    /// The file formats, by their file names' ends.
    enum Format: String, CaseIterable {
        case jpeg = "jpg"
        case png = "png"

        init?(path: String) {
            let end = path.fileExtension
            guard let format = end == "jpeg" ? .jpeg : end.flatMap(Self.init(rawValue:)) else { return nil }
            self = format
        }
    }

    let session: UInt32
    let format: Format
    let isFresh: Bool

    /// Fetches the picture, writes it to `path` or, where that is `-`, to standard output, and says so.
    func write(to path: String, _ client: RelayClient) async throws {
        var query = SnapshotQuery()
        query.fresh = isFresh
        let bytes = try await client.answer(
            to: format == .jpeg ? Routes.takeJPEG : Routes.takePNG,
            query,
            session: session,
            limit: RelayClient.maximumFile
        )
        try Self.write(bytes, to: path)
        fputs("\(path == "-" ? "standard output" : path): \(bytes.readableBytes) bytes\n", stderr)
    }

    private static func write(_ bytes: ByteBuffer, to path: String) throws(CommandError) {
        do {
            if path == "-" {
                try SystemPackage.FileDescriptor.standardOutput.writeAll(bytes.readableBytesView)
            } else {
                try WholeFile.write(bytes, to: path)
            }
        } catch Errno.brokenPipe {
            // The reader has seen enough.
        } catch {
            throw .failed("cannot write \(path): \(error)")
        }
    }
}

extension String {
    /// What stands behind the last dot of a file's name, in small letters.
    var fileExtension: String? {
        let name = split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: ".") else { return nil }
        return name[name.index(after: dot)...].lowercased()
    }
}
