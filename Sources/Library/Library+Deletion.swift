import GRDB

/// What a removal of files did.
package struct Removal: Sendable, Equatable {
    /// The items whose files are gone.
    package var items = 0
    /// The size of their files.
    package var bytes: Int64 = 0
    /// The files that could not be removed. The next call tries again.
    package var problems: [LibraryProblem] = []
}

/// A file that the library could not handle.
package struct LibraryProblem: Sendable, Equatable {
    /// The path relative to the folder; odd bytes of a name are replaced.
    package let path: String
    package let reason: String

    package init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }
}

extension Library {
    /// `due` of an item whose files are being removed.
    static let removing: Int64 = -1

    /// Deletes an item: it disappears from lists at once. Its files stay for ``grace`` seconds, in which
    /// ``undelete(_:)`` brings it back. ``purge()`` removes them afterwards.
    ///
    /// - Throws: ``LibraryError/unknownItem(_:)``; ``LibraryError/isRecording(_:)``.
    package func delete(_ id: Int64) throws(LibraryError) {
        let due = now().reading.monotonic + Int64(Self.grace) * 1_000_000_000
        try catalogue.write { try Self.discard(id, due: due, $0) }
    }

    /// Brings back an item that was deleted less than ``grace`` seconds ago.
    ///
    /// - Throws: ``LibraryError/unknownItem(_:)`` if its files are being removed, or are gone.
    package func undelete(_ id: Int64) throws(LibraryError) {
        let now = now().reading.monotonic
        try catalogue.write { db in
            let select = try db.cachedStatement(sql: "SELECT labels FROM bin WHERE id = ? AND due > ?")
            guard let labels = try String.fetchOne(select, arguments: [id, max(0, now)]) else {
                throw LibraryError.unknownItem(id)
            }
            try db.execute(
                sql: "INSERT INTO item (\(ItemRow.stored)) SELECT \(ItemRow.stored) FROM bin WHERE id = ?",
                arguments: [id]
            )
            try ItemLabels.add(FieldList.labels(labels), to: id, db)
            try db.execute(sql: "DELETE FROM bin WHERE id = ?", arguments: [id])
        }
    }

    /// Removes the files of items that were deleted more than ``grace`` seconds ago. Call it every few seconds.
    package func purge() throws(LibraryError) -> Removal {
        let now = now().reading.monotonic
        return try emptyBin { try $0.execute(sql: "UPDATE bin SET due = -1 WHERE due <= ?", arguments: [now]) }
    }

    /// Deletes items for retention, without a grace period, and removes their files. Skips those that were deleted,
    /// pinned or begun in between.
    package func retire(_ ids: [Int64]) throws(LibraryError) -> Removal {
        try emptyBin { db in
            for id in ids {
                let free = try db.cachedStatement(
                    sql: "SELECT EXISTS (SELECT 1 FROM item WHERE id = ? AND pinned = 0 AND state <> 0)"
                )
                if try Bool.fetchOne(free, arguments: [id]) == true {
                    try Self.discard(id, due: Self.removing, db)
                }
            }
        }
    }

    /// Finishes all deletions, also those of former runs.
    func finishDeletions() throws(LibraryError) -> Removal {
        try emptyBin { try $0.execute(sql: "UPDATE bin SET due = -1") }
    }

    /// Moves an item from the lists to the bin. A later run of the relay removes the files if this one cannot.
    static func discard(_ id: Int64, due: Int64, _ db: Database) throws {
        guard let item = try ItemRow.find(id, db) else { throw LibraryError.unknownItem(id) }
        guard item.state != .recording else { throw LibraryError.isRecording(id) }
        try db.cachedStatement(
            sql: """
                INSERT INTO bin (\(ItemRow.stored), due) SELECT \(ItemRow.stored), ? FROM item WHERE id = ?
                """
        ).execute(arguments: [due, id])
        try ItemRow.remove(item, db)
    }

    /// Removes the files of all items that `mark` marks for removal, then their rows.
    ///
    /// The mark is committed first. So an item whose files are going away cannot be brought back, and a crash in
    /// between leaves work that is done again.
    private func emptyBin(mark: (Database) throws -> Void) throws(LibraryError) -> Removal {
        let marked = try catalogue.write { db in
            try mark(db)
            return try Row.fetchAll(db, sql: "SELECT id, path, bytes FROM bin WHERE due = -1").map { row in
                (id: try row.integer(0), path: try row.text(1), bytes: try row.integer(2))
            }
        }
        var removal = Removal()
        guard !marked.isEmpty else { return removal }
        var removed: [Int64] = []
        let files = try ItemFiles(folder: folder)
        for (id, path, bytes) in marked {
            do throws(LibraryError) {
                try files.remove(path)
                removed.append(id)
                removal.bytes += bytes
            } catch {
                removal.problems.append(LibraryProblem(path: path, reason: "\(error)"))
            }
        }
        removal.items = removed.count
        try catalogue.write { [removed] db in
            for id in removed {
                try db.cachedStatement(sql: "DELETE FROM bin WHERE id = ?").execute(arguments: [id])
            }
        }
        return removal
    }
}
