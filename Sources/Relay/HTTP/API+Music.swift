import HTTPTypes
import HeliographAPI
import Hummingbird
import Library
import Packaging

/// Music of the library as HLS: packed audio (RFC 8216, 3.4). A segment's address says which bytes of the file it has
/// and when they are due, so the relay needs no index to serve it.
extension API {
    /// The most bytes of a segment. Six seconds have at most 240 KB.
    private static let longestSegment: UInt64 = 1 << 20

    /// Answers with the playlist.
    ///
    /// - Parameter folder: The address of the segments, relative to the playlist.
    func musicPlaylist(of item: Item, segmentsIn folder: String) async throws -> Response {
        let segments = try await inLibrary { library in
            do {
                if case .music(let scan) = try ImportedFile(library.folder + "/" + item.path).contents {
                    return MP3Segments(scan)
                }
            } catch {
                throw LibraryError.file(item.path, reason: "\(error)")
            }
            throw LibraryError.file(item.path, reason: "It is not music.")
        }
        let ending = LibraryLayout.musicEnding
        return Self.playlist(segments.playlist { "\(folder)\($1)/\($0.offset)-\($0.length)\(ending)" })
    }

    /// Answers with a segment.
    ///
    /// - Parameters:
    ///   - ticks: When it is due, in 90 kHz.
    ///   - name: `OFFSET-LENGTH.mp3`.
    func musicSegment(_ name: String, at ticks: UInt64, of item: Item) async throws -> Response {
        let parts = name.dropLast(LibraryLayout.musicEnding.count).split(separator: "-").map { UInt64($0, radix: 10) }
        guard let offset = parts.first ?? nil, let length = parts.dropFirst().first ?? nil,
            name == "\(offset)-\(length)\(LibraryLayout.musicEnding)", 1...Self.longestSegment ~= length
        else { throw Self.noSegment }
        let file = try await inLibrary { try $0.open(item) }
        guard offset < file.length, length <= file.length - offset else {
            throw Problem(.unknownItem, "item \(item.id) has \(file.length) bytes")
        }
        let pieces = [
            FileBody.Segment.bytes(MP3Segments.timestamp(ticks)),
            .file(file, FilePiece(offset: offset, length: length)),
        ]
        return Response(
            status: .ok,
            // The file may be replaced by another one under the same address.
            headers: [.contentType: item.mediaType, .cacheControl: "private, no-cache"],
            body: FileBody(pieces).response
        )
    }
}

extension Item {
    /// Whether it is an MP3 file.
    var isMusic: Bool { path.hasSuffix(LibraryLayout.musicEnding) }

    /// The media type of its file.
    var mediaType: String { isMusic ? "audio/mpeg" : "video/mp4" }
}
