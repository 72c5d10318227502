import GRDB

extension Library {
    /// Makes the catalogue agree with the disk. Call it at the start.
    ///
    /// * Deletions of former runs are finished.
    /// * Items whose file is gone are marked missing. They are complete or interrupted again if it comes back.
    /// * Files whose size differs, and those that were being recorded, are inspected again.
    /// * Recordings whose file is empty are removed.
    /// * Files that the catalogue does not know are adopted. Their age begins now.
    /// * Thumbnails and storyboards without their file are removed.
    /// * Files that cannot be read, links, and other unknown entries stay, and are listed as problems.
    ///
    /// It leaves items alone that a recorder of this process is writing.
    ///
    /// - Parameter inspect: Reads what a file says about itself, given its absolute path. Whatever it throws is listed
    ///   as the reason why the file is not adopted.
    package func reconcile(_ inspect: (String) throws -> ItemFacts) throws(LibraryError) -> Reconciliation {
        var report = Reconciliation()
        let removal = try finishDeletions()
        report.deleted = removal.items
        for problem in removal.problems { report.add(problem.path, problem.reason) }
        let root = try DiskFolder(path: folder)
        try checkItems(root, inspect, &report)
        try checkFolders(root, inspect, &report)
        return report
    }

    // MARK: - From the catalogue to the disk

    /// What reconciling must know of an item.
    private struct Known {
        var id: Int64
        var path: String
        var state: ItemState
        var bytes: Int64
        var session: Int64
        var thumbnail, storyboard: Bool
    }

    /// Compares all items with their files, folder by folder.
    private func checkItems(
        _ root: DiskFolder,
        _ inspect: (String) throws -> ItemFacts,
        _ report: inout Reconciliation
    ) throws(LibraryError) {
        var (place, folder): (String, DiskFolder?) = ("", nil)
        var last = ""
        while true {
            let items = try catalogue.read { [last] in try Self.known(after: last, $0) }
            guard let end = items.last else { return }
            last = end.path
            for item in items where !isLive(item.id) {
                guard let (around, name, stem) = try? LibraryLayout.parts(of: item.path) else {
                    report.add(item.path, "The catalogue has an impossible path.")
                    continue
                }
                if around != place { (place, folder) = (around, root.find(around)) }
                try check(item, name, stem, in: folder, inspect, &report)
            }
        }
    }

    static let knownSQL = """
        SELECT id, path, state, bytes, thumbnail, storyboard, session FROM item WHERE path > ? ORDER BY path LIMIT 500
        """

    private static func known(after path: String, _ db: Database) throws -> [Known] {
        let rows = try Row.fetchCursor(
            db,
            sql: knownSQL,
            arguments: [path]
        )
        var items: [Known] = []
        while let row = try rows.next() {
            items.append(
                Known(
                    id: try row.integer(0),
                    path: try row.text(1),
                    state: ItemState(rawValue: try row.integer(2)) ?? .missing,
                    bytes: try row.integer(3),
                    session: try row.integer(6),
                    thumbnail: try row.integer(4) != 0,
                    storyboard: try row.integer(5) != 0
                )
            )
        }
        return items
    }

    private func check(
        _ item: Known,
        _ name: String,
        _ stem: String,
        in folder: DiskFolder?,
        _ inspect: (String) throws -> ItemFacts,
        _ report: inout Reconciliation
    ) throws(LibraryError) {
        guard let folder, case .file(let bytes)? = folder.kind(of: name) else {
            if item.state != .missing {
                report.missing += 1
                try set(item.id, .missing)
                try setCompanions(item.id, thumbnail: false, storyboard: false)
            }
            return
        }
        let thumbnail = folder.kind(of: stem + ".jpg") != nil
        let storyboard = folder.kind(of: stem + ".vtt") != nil
        if (thumbnail, storyboard) != (item.thumbnail, item.storyboard) {
            try setCompanions(item.id, thumbnail: thumbnail, storyboard: storyboard)
        }
        if bytes == 0, item.state == .recording || item.state == .interrupted {
            // The relay was killed before the first picture was written.
            try set(item.id, .interrupted)
            report.deleted += try retire([item.id]).items
            return
        }
        // The disk may have had no room to complete an interrupted one.
        guard item.state != .complete || item.bytes != bytes else { return }
        let size = { folder.size(of: name) ?? bytes }
        let state = try inspectAgain(item, size, inspect, &report)
        switch item.state {
        case .recording: report.interrupted += state == .interrupted ? 1 : 0
        case .missing: report.found += 1
        case .interrupted where item.bytes == bytes && state == .interrupted: break
        case .complete, .interrupted: report.changed += 1
        }
    }

    /// Inspects a known file again. One that cannot be read counts as interrupted.
    ///
    /// - Parameter size: Returns the file's size. The inspection completes files, so it changes the size.
    private func inspectAgain(
        _ item: Known,
        _ size: () -> Int64,
        _ inspect: (String) throws -> ItemFacts,
        _ report: inout Reconciliation
    ) throws(LibraryError) -> ItemState {
        let facts: ItemFacts
        do {
            var found = try inspect(folder + "/" + item.path)
            try found.check()
            guard found.isOfSession == (item.session != 0) else {
                throw LibraryError.invalid("Another program has replaced the file.")
            }
            found.bytes = size()
            facts = found
        } catch {
            report.add(item.path, "\(error)")
            try catalogue.write { db in
                try db.execute(
                    sql: "UPDATE item SET state = ?, bytes = ?, complete = 0 WHERE id = ?",
                    arguments: [ItemState.interrupted.rawValue, size(), item.id]
                )
            }
            return .interrupted
        }
        let state = ItemState(of: facts)
        try catalogue.write { try ItemRow.update(item.id, facts, state, $0) }
        return state
    }

    private func set(_ id: Int64, _ state: ItemState) throws(LibraryError) {
        try catalogue.write { db in
            try db.cachedStatement(sql: "UPDATE item SET state = ? WHERE id = ?")
                .execute(arguments: [state.rawValue, id])
        }
    }
}
