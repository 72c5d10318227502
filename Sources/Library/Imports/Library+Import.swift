import Files
import GRDB
import Glibc
import Packaging
import Program
import SystemPackage

/// What ``Library/takeImports()`` did.
package struct Imports: Sendable, Equatable {
    /// The new items' paths.
    package var taken: [String] = []
    /// The files that are not for the library. They are in the folder `refused` now, or could not be moved there.
    package var refused: [LibraryProblem] = []

    package init() {}
}

extension Library {
    /// The folder whose files the library takes over: `imports/NAME.mp3` and `imports/DEVICE/NAME.mp4`, for example.
    package static let imports = "imports"
    /// Where it puts what it cannot take.
    package static let refused = "refused"
    /// How long a file must be unchanged, in s, because another program may be writing it.
    private static let settled = 5
    /// The most files of one call.
    private static let mostTaken = 100

    /// Takes over the files in the folder for imports: moves them to their places, and adds them to the catalogue. Call
    /// it every few seconds.
    ///
    /// Links, and names that begin with a dot, stay where they are. A file that cannot be moved is reported once, and
    /// not looked at again.
    package func takeImports() throws(LibraryError) -> Imports {
        var report = Imports()
        guard let root = try DiskFolder(path: folder).find(Self.imports) else { return report }
        takeImports(in: root, Self.imports, ImportedFile.device, &report)
        for entry in try root.entries() where entry.kind == .folder && entry.name.isName && entry.name != Self.refused {
            guard let folder = root.find(entry.name) else { continue }
            takeImports(in: folder, Self.imports + "/" + entry.name, entry.name, &report)
        }
        return report
    }

    private func takeImports(
        in folder: DiskFolder,
        _ path: String,
        _ device: String,
        _ report: inout Imports
    ) {
        let now = now().reading.wall / 1_000_000
        for entry in (try? folder.entries()) ?? [] where report.taken.count &+ report.refused.count < Self.mostTaken {
            guard entry.isText, case .file = entry.kind, !entry.name.hasPrefix("."),
                let changed = folder.changed(entry.name), (now &- changed).magnitude >= Self.settled
            else { continue }
            let source = path + "/" + entry.name
            guard !isStuck(source) else { continue }
            var place = source
            do {
                try take(&place, entry.name, device)
                report.taken.append(place)
            } catch {
                report.refused.append(LibraryProblem(path: source, reason: "\(error)"))
                let aside = "\(Self.imports)/\(Self.refused)"
                let moved = try? move(place) { "\(aside)/\($0 == 1 ? "" : "\($0) ")\(entry.name)" }
                if moved == nil { setStuck(source) }
            }
        }
    }

    /// Takes one file over.
    ///
    /// - Parameter place: Its path, which becomes that in the library.
    private func take(_ place: inout String, _ name: String, _ device: String) throws {
        guard let ending = LibraryFile.ending(of: name) else { throw LibraryFile.noKind }
        // Read only: what is refused must stay as it is.
        if let facts = try LibraryFile.recording(folder + "/" + place, completes: false) {
            try facts.check()
            let path = LibraryLayout.path(for: facts)
            let known = try state(at: path)
            guard known == nil || known == .missing else { throw LibraryError.pathTaken(path) }
            place = try move(place, tries: 1) { _ in path }
            let completed = try LibraryFile.recording(folder + "/" + place) ?? facts
            return try adopt(place, completed, hasThumbnail: false, isKnown: known != nil)
        }
        let file = try ImportedFile(folder + "/" + place)
        let stem = String(name.dropLast(ending.count))
        place = try move(place) { number in
            let path = LibraryLayout.path(ofImport: stem, ending, number, of: device, start: file.start)
            return try state(at: path) == nil ? path : nil
        }
        let hasCover = file.cover.map { (try? writeCover($0, of: place)) != nil } ?? false
        try adopt(place, file.facts(at: place), hasThumbnail: hasCover, isKnown: false)
    }

    private func writeCover(_ cover: [UInt8], of path: String) throws {
        try ReplacedFile.write(cover, to: FilePath(folder + "/" + LibraryLayout.companion(of: path, ending: ".jpg")))
    }

    /// Returns the state of the item at a path; `nil` if there is none.
    ///
    /// - Throws: ``LibraryError/badPath(_:)`` if an item cannot have it, ``LibraryError/pathTaken(_:)`` if one there is
    ///   being deleted.
    private func state(at path: String) throws(LibraryError) -> ItemState? {
        _ = try LibraryLayout.parts(of: path)
        return try catalogue.read { db in
            if try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM bin WHERE path = ?)", arguments: [path]) == true
            {
                throw LibraryError.pathTaken(path)
            }
            let state = try Int64.fetchOne(db, sql: "SELECT state FROM item WHERE path = ?", arguments: [path])
            return state.map { ItemState(rawValue: $0) ?? .missing }
        }
    }

    /// - Parameter isKnown: Whether the item was missing.
    private func adopt(_ path: String, _ facts: ItemFacts, hasThumbnail: Bool, isKnown: Bool) throws {
        let moment = now()
        try catalogue.write { db in
            let state = ItemState(of: facts)
            guard isKnown else {
                _ = try add(facts, path: path, state: state, (hasThumbnail, false), moment, db)
                return
            }
            let id = try Int64.fetchOne(db, sql: "SELECT id FROM item WHERE path = ?", arguments: [path])
            if let id { try ItemRow.update(id, facts, state, db) }
        }
    }

    /// Moves a file within the library's folder to the first of some places that is free.
    ///
    /// - Parameter place: Returns the places, from number 1 on; `nil` for one that is taken.
    /// - Returns: Its path there.
    private func move(
        _ source: String,
        tries: Int = 100,
        to place: (_ number: Int) throws -> String?
    ) throws -> String {
        for number in 1...max(1, tries) {
            guard let path = try place(number) else { continue }
            try ReplacedFile.createFolder(of: FilePath(folder + "/" + path))
            // In one step, so that a crash leaves it at one place. Nobody else creates files here.
            let (from, to) = (folder + "/" + source, folder + "/" + path)
            guard access(to, F_OK) != 0, errno == ENOENT else { continue }
            guard rename(from, to) == 0 else { throw LibraryError.file(source, reason: "\(Errno(rawValue: errno))") }
            return path
        }
        throw LibraryError.pathTaken(source)
    }
}
