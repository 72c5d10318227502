import ArgumentParser
import CommandSupport
import FoundationEssentials
import Library
import Program

/// The folder of a library on this machine.
struct LibraryFolder: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The library's folder, as in the relay's setting. Default: $XDG_STATE_HOME/heliograph/library.",
            valueName: "folder"
        ),
        completion: .directory
    )
    var library: String?

    /// Returns the folder's path.
    ///
    /// - Throws: ``CommandError`` if it is not named and there is no home.
    func path() throws(CommandError) -> String {
        if let library { return library }
        guard let state = StateFolder.path(in: ProcessInfo.processInfo.environment) else {
            throw .failed("there is no home directory: name the library with --library")
        }
        return state + "/library"
    }
}

struct BackUpLibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copies the library's catalogue, also while a relay runs.",
        discussion: """
            The copy has the pins and labels, but no recordings: copy the files of the folder `recordings` yourself.
              heliograph library backup catalogue.backup
            """
    )

    @OptionGroup var folder: LibraryFolder

    @Argument(help: "The copy. An existing file is replaced once the copy is complete.", completion: .file())
    var file: String

    func run() async throws {
        try await CommandError.reporting {
            let folder = try folder.path()
            try CommandError.reporting { () throws(LibraryError) in try Library.backup(folder: folder, to: file) }
        }
    }
}

struct RestoreLibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Replaces the library's catalogue by a backup. Stop the relay first.",
        discussion: """
            The former catalogue stays as catalogue.sqlite.old. The relay's next start adds the recordings that were made
            since the backup.
            """
    )

    @OptionGroup var folder: LibraryFolder

    @Argument(help: "A file that `heliograph library backup` has made.", completion: .file())
    var file: String

    func run() async throws {
        try await CommandError.reporting {
            let folder = try folder.path()
            try CommandError.reporting { () throws(LibraryError) in try Library.restore(folder: folder, from: file) }
        }
    }
}

struct RebuildLibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild",
        abstract: "Makes a new catalogue from the recordings. Stop the relay first.",
        discussion: """
            Pins and edited labels are lost, and all recordings count as new for their deletion by age. The former
            catalogue stays as catalogue.sqlite.old.
            """
    )

    @OptionGroup var folder: LibraryFolder

    func run() async throws {
        try await CommandError.reporting {
            let folder = try folder.path()
            let report = try CommandError.reporting { () throws(LibraryError) in
                try Library.rebuild(folder: folder) { try LibraryFile.inspect($0) }
            }
            for problem in report.problems { print("not in the library: \(problem.path): \(problem.reason)") }
            print("recordings in the new catalogue: \(report.adopted)")
        }
    }
}
