import Glibc
package import Packaging
import Program
package import SystemPackage

/// An MP3 file of the library: what it says of itself, and its cover.
package enum MusicFile {
    package enum Failure: Error, CustomStringConvertible {
        case unreadable(Errno)
        case scan(MP3Scan.Failure)

        package var description: String {
            switch self {
            case .unreadable(let error): "It cannot be read: \(error)."
            case .scan(let failure): "\(failure)"
            }
        }
    }

    /// The codec string (RFC 6381).
    private static let codec = "mp4a.40.34"
    /// The device of music whose folder names none.
    package static let device = "imports"

    /// Reads the file at an absolute path.
    package static func scan(_ path: String) throws(Failure) -> MP3Scan {
        let file: RecordingFile
        do {
            file = try RecordingFile(reading: FilePath(path))
        } catch {
            throw .unreadable(error)
        }
        do {
            return try MP3Scan(size: file.length) { file.read(at: $0, count: $1) }
        } catch {
            throw .scan(error)
        }
    }

    /// Returns when a file was last changed, in µs since 1970, and its size.
    static func status(_ path: String) throws(Failure) -> (start: Int64, bytes: Int64) {
        do {
            let status = try FilePath(path).stat(followTargetSymlink: false)
            let time = Int64(status.st_mtim.tv_sec).multipliedReportingOverflow(by: 1_000_000)
            let start = time.overflow ? 1 : min(max(1, time.partialValue), ItemFacts.lastStart)
            return (start, Int64(clamping: status.size))
        } catch {
            throw .unreadable(error)
        }
    }

    /// Returns the facts of the file at an absolute path, whose end is that of an item's path: `DEVICE/DAY/NAME.mp3`.
    ///
    /// Its name in the library is the title. Artist, album and track are labels. It begins when it was last changed.
    ///
    /// - Parameter scan: What it holds.
    static func facts(_ scan: MP3Scan, at path: String) throws(Failure) -> ItemFacts {
        let parts = path.split(separator: "/").suffix(3).map(String.init)
        var facts = ItemFacts(
            recording: id(of: parts.joined(separator: "/")),
            number: 0,
            device: parts.first ?? device,
            session: 0,
            sessionName: scan.tag.title.map(ItemFacts.fitting)
                ?? parts.last.map { ItemFacts.fitting(String($0.dropLast(LibraryLayout.musicEnding.count))) },
            start: 1,
            anchor: 0,
            boot: "",
            duration: scan.duration,
            tracks: [ItemFacts.Track(codec: codec, kind: "audio")],
            isComplete: true
        )
        (facts.start, facts.bytes) = try status(path)
        for (name, text) in [("artist", scan.tag.artist), ("album", scan.tag.album), ("track", scan.tag.track)] {
            if let text { facts.labels[name] = ItemFacts.fitting(text) }
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
