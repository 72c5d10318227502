import Glibc
import Media
package import Packaging
import Program
package import SystemPackage

/// A file of another program in the library: what it says of itself, and its cover.
package struct ImportedFile {
    package enum Failure: Error, CustomStringConvertible {
        case unreadable(Errno)
        case music(MP3Scan.Failure)
        case movie(MovieSummary.Failure)

        package var description: String {
            switch self {
            case .unreadable(let error): "It cannot be read: \(error)."
            case .music(let failure): "\(failure)"
            case .movie(let failure): "\(failure)"
            }
        }
    }

    package enum Contents {
        case music(MP3Scan)
        case movie(MovieSummary)
    }

    /// The device of files whose folder names none.
    static let device = "imports"
    /// The codec string of MP3 (RFC 6381).
    private static let musicCodec = "mp4a.40.34"

    package let contents: Contents
    /// When it was last changed, in µs since 1970.
    let start: Int64
    private let bytes: Int64

    /// Reads the file at an absolute path.
    package init(_ path: String) throws(Failure) {
        let file: RecordingFile
        do throws(Errno) {
            file = try RecordingFile(reading: FilePath(path))
            let status = try FilePath(path).stat(followTargetSymlink: false)
            let time = Int64(status.st_mtim.tv_sec).multipliedReportingOverflow(by: 1_000_000)
            start = time.overflow ? 1 : min(max(1, time.partialValue), ItemFacts.lastStart)
            bytes = Int64(clamping: status.size)
        } catch {
            throw .unreadable(error)
        }
        if LibraryFile.ending(of: path) == LibraryLayout.musicEnding {
            do {
                contents = .music(try MP3Scan(size: file.length) { file.read(at: $0, count: $1) })
            } catch {
                throw .music(error)
            }
        } else {
            do {
                contents = .movie(try MovieSummary(size: file.length) { file.read(at: $0, count: $1) })
            } catch {
                throw .movie(error)
            }
        }
    }

    private var tags: MediaTags {
        switch contents {
        case .music(let scan): scan.tags
        case .movie(let movie): movie.tags
        }
    }

    /// A JPEG image.
    var cover: [UInt8]? { tags.cover }

    /// Returns the facts of the item. Its name in the library is the title. Artist, album and track are labels. It
    /// begins when the file was last changed.
    ///
    /// - Parameter path: The item's path, also after other folders: `DEVICE/DAY/NAME.mp3` are its last parts.
    func facts(at path: String) -> ItemFacts {
        let parts = path.split(separator: "/").suffix(3).map(String.init)
        let name = parts.last ?? ""
        var facts = ItemFacts(
            recording: Self.id(of: parts.joined(separator: "/")),
            number: 0,
            device: parts.first ?? Self.device,
            session: 0,
            sessionName: ItemFacts.fitting(
                tags.title ?? String(name.dropLast(LibraryFile.ending(of: name)?.count ?? 0))
            ),
            start: start,
            anchor: 0,
            boot: "",
            bytes: bytes,
            isComplete: true
        )
        for (name, text) in [("artist", tags.artist), ("album", tags.album), ("track", tags.track)] {
            if let text { facts.labels[name] = ItemFacts.fitting(text) }
        }
        switch contents {
        case .music(let scan):
            facts.duration = scan.duration
            facts.tracks = [ItemFacts.Track(codec: Self.musicCodec, kind: "audio")]
        case .movie(let movie):
            facts.duration = movie.duration
            facts.tracks = movie.tracks.map { track in
                ItemFacts.Track(codec: ItemFacts.fitting(track.codec), kind: track.kind.rawValue)
            }
            let size = movie.size
            (facts.width, facts.height) = (Int64(clamping: size?.width ?? 0), Int64(clamping: size?.height ?? 0))
            (facts.fps, facts.keyframes) = (movie.fps, movie.keyframes)
        }
        return facts
    }

    /// Returns an id that is the same whenever the file is read: a UUID of version 8 (RFC 9562, 5.8), of two
    /// hashes.
    private static func id(of path: String) -> String {
        let (high, low) = (StableHash.of(path), StableHash.of(path, basis: 0x9e37_79b9_7f4a_7c15))
        let digits =
            String((high & ~0xF000 | 0x8000), radix: 16).zeroPadded(to: 16)
            + String(low & ~(0xC000 << 48) | 0x8000 << 48, radix: 16).zeroPadded(to: 16)
        var (rest, parts): (Substring, [Substring]) = (digits[...], [])
        for length in [8, 4, 4, 4, 12] {
            parts.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return parts.joined(separator: "-")
    }
}
