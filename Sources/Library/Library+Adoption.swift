import GRDB
import Program

extension Library {
    /// Compares all files with the catalogue, folder by folder.
    func checkFolders(
        _ root: DiskFolder,
        _ inspect: (String) throws -> ItemFacts,
        _ report: inout Reconciliation
    ) throws(LibraryError) {
        let recordings = try root.folder(LibraryLayout.recordings)
        for device in try Self.folders(in: recordings, LibraryLayout.recordings, &report) {
            let path = LibraryLayout.recordings + "/" + device
            let folder = try recordings.folder(device)
            for day in try Self.folders(in: folder, path, &report) {
                try checkFiles(in: try folder.folder(day), path + "/" + day, inspect, &report)
                folder.removeIfEmpty(day)
            }
            recordings.removeIfEmpty(device)
        }
    }

    /// Returns the names of the folders in a folder that may contain items. Everything else is a problem.
    private static func folders(
        in folder: DiskFolder,
        _ path: String,
        _ report: inout Reconciliation
    ) throws(LibraryError) -> [String] {
        try folder.entries().compactMap { entry in
            if entry.kind == .folder, entry.name.isName { return entry.name }
            report.add(path + "/" + entry.name, Self.reason(entry))
            return nil
        }
    }

    private static func reason(_ entry: DiskFolder.Entry) -> String {
        if !entry.isText { return "The name is not UTF-8. Rename it." }
        return switch entry.kind {
        case .folder: "A folder of this name has no place here. It is left alone."
        case .file: "A file of this name has no place here. It is left alone."
        case .other: "It is a link or a special file. Links are not followed."
        }
    }

    static let pathsSQL = "SELECT path FROM item WHERE path > ? AND path < ?"

    private func checkFiles(
        in folder: DiskFolder,
        _ path: String,
        _ inspect: (String) throws -> ItemFacts,
        _ report: inout Reconciliation
    ) throws(LibraryError) {
        let entries = try folder.entries()
        let names = Set(entries.map(\.name))
        let known = try catalogue.read { db in
            // A path in the folder is between the folder's path with `/` and with the character after `/`.
            try Set(
                String.fetchAll(
                    db,
                    sql: Self.pathsSQL,
                    arguments: [path + "/", path + "0"]
                )
            )
        }
        var found: [Found] = []
        for entry in entries {
            let file = path + "/" + entry.name
            guard entry.isText, case .file(let bytes) = entry.kind else {
                report.add(file, Self.reason(entry))
                continue
            }
            if let stem = LibraryLayout.stem(ofFile: entry.name) {
                guard !known.contains(file) else { continue }
                let companions = (names.contains(stem + ".jpg"), names.contains(stem + ".vtt"))
                let size = { folder.size(of: entry.name) ?? bytes }
                if let new = inspectNew(file, size, companions, inspect, &report) { found.append(new) }
                if found.count == 500 {
                    try adopt(found, &report)
                    found = []
                }
            } else if let stem = LibraryLayout.owner(ofCompanion: entry.name, among: names) {
                guard !LibraryLayout.hasItem(stem, among: names) else { continue }
                do throws(LibraryError) {
                    try folder.remove(entry.name)
                    report.orphans += 1
                } catch {
                    report.add(file, "\(error)")
                }
            } else {
                report.add(file, Self.reason(entry))
            }
        }
        try adopt(found, &report)
    }

    /// A file that the catalogue does not know, with what it says about itself.
    private struct Found {
        var facts: ItemFacts
        var path: String
        var companions: (thumbnail: Bool, storyboard: Bool)
    }

    /// Inspects an unknown file; `nil` if it cannot be read, which is then listed.
    ///
    /// - Parameter size: Returns the file's size. The inspection completes files, so it changes the size.
    private func inspectNew(
        _ path: String,
        _ size: () -> Int64,
        _ companions: (thumbnail: Bool, storyboard: Bool),
        _ inspect: (String) throws -> ItemFacts,
        _ report: inout Reconciliation
    ) -> Found? {
        do {
            var facts = try inspect(folder + "/" + path)
            facts.bytes = size()
            try facts.check()
            return Found(facts: facts, path: path, companions: companions)
        } catch {
            report.add(path, "\(error)")
            return nil
        }
    }

    /// Adds unknown files in one transaction, which takes little longer than one for a single file.
    private func adopt(_ files: [Found], _ report: inout Reconciliation) throws(LibraryError) {
        guard !files.isEmpty else { return }
        let moment = now()
        report.adopted += try catalogue.write { db in
            var adopted = 0
            for file in files {
                do {
                    let state = ItemState(of: file.facts)
                    _ = try add(file.facts, path: file.path, state: state, file.companions, moment, db)
                    adopted += 1
                } catch {
                    // A recorder may have begun it in between, or it is being deleted.
                    guard case .pathTaken? = error as? LibraryError else { throw error }
                }
            }
            return adopted
        }
    }
}
