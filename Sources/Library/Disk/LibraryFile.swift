import Packaging
import SystemPackage

/// What files of the library say of themselves.
package enum LibraryFile {
    static let noKind = LibraryError.invalid("Only MP3 and MP4 files can be imported.")

    /// Returns the ending of a file that can be in the library, whatever its letters' case; `nil` for others.
    package static func ending(of name: String) -> String? {
        [LibraryLayout.ending, LibraryLayout.musicEnding].first { name.lowercased().hasSuffix($0) }
    }

    /// Returns the facts of the file at an absolute path. A recording that broke off is completed.
    package static func inspect(_ path: String) throws -> ItemFacts {
        try recording(path) ?? ImportedFile(path).facts(at: path)
    }

    /// Checks that a file can be in the library, and leaves it as it is.
    package static func check(_ path: String) throws {
        guard ending(of: path) != nil else { throw noKind }
        if try recording(path, completes: false) == nil { _ = try ImportedFile(path) }
    }

    /// Returns the facts of a recording; `nil` if the file is of another program.
    ///
    /// - Parameter completes: As for ``RecordingRepair/inspect(_:completes:)``.
    static func recording(_ path: String, completes: Bool = true) throws(RecordingRepair.Failure) -> ItemFacts? {
        guard ending(of: path) == LibraryLayout.ending else { return nil }
        do {
            return try RecordingRepair.inspect(path, completes: completes)
        } catch .foreign, .scan(.notARecording) {
            return nil
        }
    }
}
