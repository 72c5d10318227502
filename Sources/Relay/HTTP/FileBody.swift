import HTTPTypes
import Hummingbird
import Library
import NIOCore
import NIOPosix
import Packaging

/// The body of an answer that is read from files while it is sent.
struct FileBody: Sendable {
    enum Segment: Sendable {
        case bytes([UInt8])
        case file(RecordingFile, FilePiece)

        /// - Parameter file: The one that pieces are of.
        init(_ piece: MovieSegment.Piece, of file: RecordingFile) {
            self =
                switch piece {
                case .bytes(let bytes): .bytes(bytes)
                case .file(let place): .file(file, place)
                }
        }

        var length: UInt64 {
            switch self {
            case .bytes(let bytes): UInt64(bytes.count)
            case .file(_, let piece): piece.length
            }
        }
    }

    /// The most bytes that are read at once.
    private static let readSize: UInt64 = 256 << 10

    /// The file became shorter meanwhile.
    private struct Shorter: Error {}

    private let segments: [Segment]

    init(_ segments: [Segment]) { self.segments = segments }

    /// In bytes.
    var length: UInt64 { segments.reduce(0) { $0 + $1.length } }

    /// The part of a body that a request asks for.
    enum Range: Equatable {
        case whole
        case part(first: UInt64, last: UInt64)
        /// The body does not have it.
        case unsatisfiable

        /// Reads a `Range` field (RFC 9110, 14.2). Anything but one range of bytes is ignored.
        init(_ field: String?, of length: UInt64) {
            guard let field, field.hasPrefix("bytes="), !field.contains(",") else {
                self = .whole
                return
            }
            let parts = field.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else {
                self = .whole
                return
            }
            switch (UInt64(parts[0]), UInt64(parts[1])) {
            case (let first?, let last):
                guard first < length else {
                    self = .unsatisfiable
                    return
                }
                guard last.map({ $0 >= first }) ?? parts[1].isEmpty else {
                    self = .whole
                    return
                }
                self = .part(first: first, last: min(last ?? .max, length - 1))
            case (nil, let suffix?) where parts[0].isEmpty:
                self =
                    suffix == 0 || length == 0
                    ? .unsatisfiable : .part(first: length - min(suffix, length), last: length - 1)
            default: self = .whole
            }
        }
    }

    /// Returns the body of these bytes.
    ///
    /// - Parameters:
    ///   - first: The first byte, from 0.
    ///   - count: How many there are.
    func part(from first: UInt64, count: UInt64) -> FileBody {
        var (skip, left, part) = (first, count, [Segment]())
        for segment in segments where left > 0 {
            let start = min(skip, segment.length)
            let length = min(segment.length - start, left)
            skip -= start
            left -= length
            guard length > 0 else { continue }
            switch segment {
            case .bytes(let bytes): part.append(.bytes(Array(bytes[Int(start)..<Int(start + length)])))
            case .file(let file, let piece):
                part.append(.file(file, FilePiece(offset: piece.offset + start, length: length)))
            }
        }
        return FileBody(part)
    }

    var response: ResponseBody {
        ResponseBody(contentLength: Int(clamping: length)) { writer in
            for segment in segments { try await Self.write(segment, to: &writer) }
            try await writer.finish(nil)
        }
    }

    private static func write(_ segment: Segment, to writer: inout any ResponseBodyWriter) async throws {
        switch segment {
        case .bytes(let bytes): try await writer.write(ByteBuffer(bytes: bytes))
        case .file(let file, var piece):
            while piece.length > 0 {
                let count = Int(min(piece.length, readSize))
                let offset = piece.offset
                // Not on a thread for tasks: it waits for the disk.
                let bytes = try await NIOThreadPool.singleton.runIfActive { file.read(at: offset, count: count) }
                guard let bytes, bytes.count == count else { throw Shorter() }
                try await writer.write(ByteBuffer(bytes: bytes))
                piece.offset += UInt64(count)
                piece.length -= UInt64(count)
            }
        }
    }
}
