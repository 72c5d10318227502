import ArgumentParser
import CommandSupport
import Files
import FoundationEssentials
@preconcurrency import Glibc
import Library
import Program
import SystemPackage

struct ImportLibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Adds MP3 and MP4 files, and recordings of other relays, to the library on this machine.",
        discussion: """
            Of folders, it adds the files in them and below. A running relay takes over 100 files every 15 s. Files of
            other programs are listed for the device `imports`, by their titles, artists and albums.
              heliograph library import ~/Music
              heliograph library import --link take.mp3

            With --link, the library has the file itself under another name, which takes no space. Deleting it from the
            library leaves the original where it is.
            """
    )

    @OptionGroup var folder: LibraryFolder

    @Flag(help: "Links the files instead of copying them. They must be on the library's file system.")
    var link = false

    @Option(help: ArgumentHelp("The device that the items are listed for. Default: imports.", valueName: "name"))
    var device: String?

    @Argument(help: "Files and folders. Links in folders are not followed.", completion: .file())
    var paths: [String]

    func validate() throws {
        guard device?.isName != false, device != Library.refused else {
            throw ValidationError("--device must be \(String.nameRule), and not \(Library.refused).")
        }
    }

    func run() async throws {
        try await CommandError.reporting {
            let target = FilePath(try folder.path() + "/" + Library.imports + (device.map { "/" + $0 } ?? ""))
            do {
                try ReplacedFile.createFolder(of: target.appending("x"))
            } catch {
                throw CommandError.failed("cannot use \(target): \(error)")
            }
            var (count, refused) = (0, 0)
            func refuse(_ file: String, _ reason: any Error) {
                fputs("heliograph: not imported: \(file): \(reason)\n", stderr)
                refused += 1
            }
            for path in paths {
                for file in Self.files(at: path, refuse: refuse) {
                    do {
                        try add(file, to: target)
                        count += 1
                    } catch {
                        refuse(file, error)
                    }
                }
            }
            print("imported: \(count)")
            guard refused == 0 else { throw CommandError.failed("not imported: \(refused)") }
        }
    }

    /// Returns the file at a path, or the files of a folder and below that may be for the library.
    private static func files(
        at path: String,
        isNamed: Bool = true,
        refuse: (String, any Error) -> Void
    ) -> [String] {
        do {
            // A person may name a link.
            let status = try FilePath(path).stat(followTargetSymlink: isNamed)
            if status.type == .regular { return isNamed || LibraryFile.ending(of: path) != nil ? [path] : [] }
            guard status.type == .directory else { return [] }
            var files: [String] = []
            for name in try FileManager.default.contentsOfDirectory(atPath: path).sorted() where !name.hasPrefix(".") {
                files.append(contentsOf: Self.files(at: path + "/" + name, isNamed: false, refuse: refuse))
            }
            return files
        } catch {
            refuse(path, error)
            return []
        }
    }

    /// Links or copies a file into the folder for imports, where it appears in one step.
    private func add(_ file: String, to folder: FilePath) throws {
        // A link that a person names is followed.
        guard let resolved = realpath(file, nil) else { throw Errno(rawValue: errno) }
        defer { free(resolved) }
        let source = String(cString: resolved)
        try LibraryFile.check(source)
        let name = FilePath(file).lastComponent?.string ?? file
        let ending = LibraryFile.ending(of: name) ?? ""
        let stem = name.dropLast(ending.count)
        let draft = folder.appending(".\(getpid()).part")
        unlink(draft.string)
        if link {
            guard Glibc.link(source, draft.string) == 0 else {
                guard errno == EXDEV else { throw Errno(rawValue: errno) }
                throw CommandError.failed("it is on another file system: import it without --link")
            }
        } else {
            try Self.copy(source, to: draft)
        }
        defer { unlink(draft.string) }
        for number in 1...100 {
            let target = folder.appending("\(stem)\(number == 1 ? "" : " \(number)")\(ending)")
            if Glibc.link(draft.string, target.string) == 0 { return }
            guard errno == EEXIST else { throw Errno(rawValue: errno) }
        }
        throw CommandError.failed("100 files of this name are being imported")
    }

    /// Copies a file with the time of its last change, which says when it is from.
    private static func copy(_ path: String, to draft: FilePath) throws {
        let source = try SystemPackage.FileDescriptor.open(FilePath(path), .readOnly)
        try source.closeAfter {
            let target = try SystemPackage.FileDescriptor.open(
                draft,
                .writeOnly,
                options: [.create, .exclusiveCreate],
                permissions: .ownerReadWrite
            )
            try target.closeAfter {
                var part = [UInt8](repeating: 0, count: 1 << 20)
                while case let count = try part.withUnsafeMutableBytes({ try source.read(into: $0) }), count > 0 {
                    _ = try target.writeAll(part[..<count])
                }
                let times = try source.stat()
                if geteuid() == 0 {
                    // The relay is often another user.
                    let owner = try draft.removingLastComponent().stat()
                    guard fchown(target.rawValue, owner.userID.rawValue, owner.groupID.rawValue) == 0 else {
                        throw Errno(rawValue: errno)
                    }
                }
                guard futimens(target.rawValue, [times.st_atim, times.st_mtim]) == 0, fsync(target.rawValue) == 0
                else { throw Errno(rawValue: errno) }
            }
        }
    }
}
