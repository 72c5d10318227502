import Program

/// Where files lie in the library's folder: `recordings/DEVICE/YYYY-MM-DD/NAME.mp4`, and beside each file what belongs
/// to it: `NAME.jpg`, `NAME.vtt`, and `NAME.000.jpg` and so on. The cover of `NAME.mp3` is `NAME.mp3.jpg`.
package enum LibraryLayout {
    static let recordings = "recordings"
    static let ending = ".mp4"
    /// The ending of music, which is part of the stem.
    package static let musicEnding = ".mp3"
    /// The most bytes of a file's name without its ending, so that all names fit what file systems allow.
    private static let longestStem = 200

    /// Returns the path of an item's file, relative to the library's folder. The day is that of the start in UTC.
    package static func path(for facts: ItemFacts) -> String {
        "\(recordings)/\(facts.device)/\(day(of: facts.start))/\(facts.recording)-\(facts.number)\(ending)"
    }

    /// Returns a path for a file of another program, relative to the library's folder.
    ///
    /// - Parameters:
    ///   - name: The file's name without its ending.
    ///   - ending: `.mp3` or `.mp4`.
    ///   - number: From 1, to tell files of one name apart.
    static func path(
        ofImport name: String,
        _ ending: String,
        _ number: Int,
        of device: String,
        start: Int64
    ) -> String {
        "\(recordings)/\(device)/\(day(of: start))/\(name)\(number == 1 ? "" : " \(number)")\(ending)"
    }

    /// Returns the path of a file that belongs to an item.
    ///
    /// - Parameters:
    ///   - path: The item's path.
    ///   - ending: `.jpg`, `.vtt`, or `.000.jpg` and so on.
    package static func companion(of path: String, ending: String) -> String {
        String(path.dropLast(path.hasSuffix(Self.ending) ? Self.ending.count : 0)) + ending
    }

    /// Returns the ending of a storyboard's sheet for ``companion(of:ending:)``: `.000.jpg` and so on.
    package static func sheetEnding(_ number: Int) -> String { ".\(String(number).zeroPadded(to: 3)).jpg" }

    /// Splits a path into its folder and its file's name, whose stem the names of companions begin with.
    ///
    /// - Throws: ``LibraryError/badPath(_:)`` if it is not a path of an item.
    static func parts(of path: String) throws(LibraryError) -> (folder: String, name: String, stem: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4, parts[0] == recordings, parts[1].isName, parts[2].isName,
            let stem = stem(ofFile: parts[3])
        else { throw .badPath(path) }
        return (parts[..<3].joined(separator: "/"), parts[3], stem)
    }

    /// Returns the stem of an item's file; `nil` if a file of this name is not an item.
    static func stem(ofFile name: String) -> String? {
        guard name.hasSuffix(ending) || name.hasSuffix(musicEnding) else { return nil }
        let stem = name.hasSuffix(ending) ? String(name.dropLast(ending.count)) : name
        let isSound =
            1...longestStem ~= stem.utf8.count && !stem.hasPrefix(".")
            && stem.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
        return isSound ? stem : nil
    }

    /// Whether there is an item of a stem.
    ///
    /// - Parameter names: The names in its folder.
    static func hasItem(_ stem: String, among names: some Collection<String>) -> Bool {
        names.contains(stem + ending) || stem.hasSuffix(musicEnding) && names.contains(stem)
    }

    /// Returns the stem of the item that a thumbnail or a storyboard's file belongs to, whether or not that item is
    /// there; `nil` for other files.
    ///
    /// A file `a.000.jpg` belongs to an item `a.000` if there is one, and otherwise to an item `a`.
    ///
    /// - Parameter names: The names in its folder.
    static func owner(ofCompanion name: String, among names: some Collection<String>) -> String? {
        if name.hasSuffix(".vtt") { return String(name.dropLast(4)) }
        guard name.hasSuffix(".jpg") else { return nil }
        let stem = String(name.dropLast(4))
        let number = stem.suffix(4)
        let isNumbered =
            number.count == 4 && number.first == "."
            && number.dropFirst().utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard isNumbered, !names.contains(stem + ending) else { return stem }
        return String(stem.dropLast(4))
    }

    /// Returns a day such as `2026-01-31`.
    static func day(of time: Int64) -> String {
        // Civil from days, by Howard Hinnant: years begin on 1 March, so that the leap day is a year's last.
        let days = Int(time / 86_400_000_000) + 719_468
        let era = days / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        let isNextYear = month >= 10
        return [
            String(yearOfEra + era * 400 + (isNextYear ? 1 : 0)).zeroPadded(to: 4),
            String(isNextYear ? month - 9 : month + 3).zeroPadded(to: 2), String(day).zeroPadded(to: 2),
        ].joined(separator: "-")
    }
}
