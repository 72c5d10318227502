import Packaging
import SystemPackage

/// What files of the library say of themselves.
package enum LibraryFile {
    /// Returns the ending of a file that can be in the library, whatever its letters' case; `nil` for others.
    package static func ending(of name: String) -> String? {
        [LibraryLayout.ending, LibraryLayout.musicEnding].first { name.lowercased().hasSuffix($0) }
    }

    /// Returns the facts of the file at an absolute path. A recording that broke off is completed.
    package static func inspect(_ path: String) throws -> ItemFacts {
        if ending(of: path) == LibraryLayout.musicEnding {
            return try MusicFile.facts(MusicFile.scan(path), at: path)
        }
        return try RecordingRepair.inspect(path)
    }

    /// Checks that a file can be in the library, and leaves it as it is.
    package static func check(_ path: String) throws {
        if ending(of: path) == LibraryLayout.musicEnding {
            _ = try MusicFile.scan(path)
        } else {
            _ = try RecordingRepair.inspect(path, completes: false)
        }
    }
}
