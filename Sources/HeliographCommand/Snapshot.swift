import CommandSupport
@preconcurrency import Glibc
import HeliographAPI
import HeliographClient
import NIOCore
import SystemPackage

/// A snapshot of a session's screen that is written to a file.
struct Snapshot {
    /// The file formats, by file name extension.
    enum Format: String, CaseIterable {
        case jpeg = "jpg"
        case png = "png"

        init?(path: String) {
            let end = path.fileExtension
            guard let format = end == "jpeg" ? .jpeg : end.flatMap(Self.init(rawValue:)) else { return nil }
            self = format
        }
    }

    let session: SessionAddress
    let format: Format
    let isFresh: Bool

    /// Fetches the image, writes it to `path` and reports that. If `path` is `-`, it writes to standard output.
    func write(to path: String, _ client: RelayClient) async throws {
        var query = SnapshotQuery()
        query.fresh = isFresh
        let bytes = try await client.answer(
            to: format == .jpeg ? Routes.takeJPEG : Routes.takePNG,
            query,
            at: session,
            limit: RelayClient.longestImage
        ).bytes
        try await Self.write(bytes, to: path)
        fputs("\(path == "-" ? "standard output" : path): \(bytes.readableBytes) bytes\n", stderr)
    }

    private static func write(_ bytes: ByteBuffer, to path: String) async throws(CommandError) {
        guard path != "-" else {
            // A reader that has left has seen enough.
            _ = try SystemPackage.FileDescriptor.writeToStandardOutput(bytes.readableBytesView)
            return
        }
        do {
            try await WholeFile.write(bytes, to: path)
        } catch {
            throw .failed("cannot write \(path): \(error)")
        }
    }
}

extension String {
    /// The text after the last dot of a file's name, in lower case.
    var fileExtension: String? {
        let name = split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: ".") else { return nil }
        return name[name.index(after: dot)...].lowercased()
    }
}
