import Files
import Library
import Media
import Packaging
import Program
import SystemPackage

/// Writes what shows a recording at a glance, beside its file: a thumbnail, and a storyboard of small pictures.
///
/// A storyboard is a WebVTT file, whose cues name a sheet and a rectangle in it (`#xywh=`, Media Fragments 4.2.2).
/// Sheets are JPEGs of up to ``sheetSize`` pictures below each other. A sheet is written when it is full, or when the
/// recording ends.
struct Storyboard {
    /// The most pictures of a sheet.
    private static let sheetSize = 24

    private struct Cue {
        /// From the file's beginning, in µs.
        var start: Int64
        var sheet: Int
        var place: Int
        var size: PictureSize
        var rows: Int
    }

    /// The absolute path of the recording's file.
    private let path: String
    private var sheet: JPEGStrip?
    private var sheets = 0
    private var cues: [Cue] = []
    private(set) var hasThumbnail = false

    init(of path: String) { self.path = path }

    /// Whether any sheet is written.
    var isWritten: Bool { sheets > 0 }

    /// Adds a picture. The first one is also the thumbnail.
    ///
    /// - Parameter time: From the file's beginning, in µs.
    mutating func add(_ jpeg: [UInt8], at time: Int64) {
        if !hasThumbnail { hasThumbnail = write(jpeg, ending: ".jpg") }
        if sheet?.append(jpeg) != true {
            writeSheet(endingAt: time)
            sheet = JPEGStrip(jpeg)
        }
        guard let sheet else { return }
        cues.append(
            Cue(
                start: max(0, time),
                sheet: sheets,
                place: sheet.count - 1,
                size: sheet.size,
                rows: sheet.rows
            )
        )
        if sheet.count == Self.sheetSize { writeSheet(endingAt: time) }
    }

    /// Writes what is not written yet.
    ///
    /// - Parameter time: The recording's end, from the file's beginning, in µs.
    mutating func end(at time: Int64) { writeSheet(endingAt: time) }

    private mutating func writeSheet(endingAt time: Int64) {
        guard let sheet else { return }
        self.sheet = nil
        guard sheets < 1000, write(sheet.bytes, ending: LibraryLayout.sheetEnding(sheets)) else {
            cues.removeAll { $0.sheet == sheets }
            return
        }
        sheets += 1
        _ = write(Array(text(endingAt: time).utf8), ending: ".vtt")
    }

    private func text(endingAt end: Int64) -> String {
        var text = "WEBVTT\n"
        let ends = cues.dropFirst().map(\.start) + [max(end, (cues.last?.start ?? 0) + 1_000_000)]
        for (cue, end) in zip(cues, ends) where end > cue.start {
            let area = "0,\(cue.place * cue.rows),\(cue.size.width),\(cue.size.height)"
            text += "\n\(Self.clock(cue.start)) --> \(Self.clock(end))\nstoryboard/\(cue.sheet)#xywh=\(area)\n"
        }
        return text
    }

    /// Returns a time such as `01:02:03.004` (WebVTT, 4.1).
    private static func clock(_ time: Int64) -> String {
        let milliseconds = time / 1000
        let seconds = milliseconds / 1000
        let parts = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { String($0).zeroPadded(to: 2) }
        return parts.joined(separator: ":") + "." + String(milliseconds % 1000).zeroPadded(to: 3)
    }

    /// Writes a file beside the recording's.
    ///
    /// - Returns: Whether that worked. The recording does not depend on it.
    private func write(_ bytes: [UInt8], ending: String) -> Bool {
        let file = FilePath(LibraryLayout.companion(of: path, ending: ending))
        return (try? ReplacedFile.write(bytes, to: file)) != nil
    }
}
