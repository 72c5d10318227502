import GRDB
import Glibc
import SystemPackage

extension Library {
    /// Lists items in the order of time.
    ///
    /// - Parameter scope: The devices that the caller may see.
    /// - Throws: ``LibraryError/badLimit(_:)``, ``LibraryError/badCursor(_:)``.
    package func items(_ query: ItemQuery, scope: DeviceScope = .all) throws(LibraryError) -> ItemPage {
        try catalogue.read { try ItemSearch(query, scope: scope, $0).page($0) }
    }

    /// Returns an item; `nil` if there is none, or the caller may not see it.
    package func item(_ id: Int64, scope: DeviceScope = .all) throws(LibraryError) -> Item? {
        let item = try catalogue.read { try ItemRow.find(id, $0) }
        return item.flatMap { scope.contains($0.facts.device) ? $0 : nil }
    }

    /// Returns the device of an item, also of a deleted one whose files are still there; `nil` if there is none.
    package func device(of id: Int64) throws(LibraryError) -> String? {
        try catalogue.read { db in
            let select = try db.cachedStatement(
                sql: """
                    SELECT name FROM device WHERE id IN \
                    (SELECT device FROM item WHERE id = ?1 UNION SELECT device FROM bin WHERE id = ?1)
                    """
            )
            return try String.fetchOne(select, arguments: [id])
        }
    }

    /// Returns the items of a recording in order, at most ``ItemQuery/mostItems``.
    package func recording(_ id: String, scope: DeviceScope = .all) throws(LibraryError) -> [Item] {
        var query = ItemQuery()
        query.recording = id
        query.order = .oldestFirst
        query.limit = ItemQuery.mostItems
        return try items(query, scope: scope).items.sorted { $0.facts.number < $1.facts.number }
    }

    /// Opens an item's file to read it.
    ///
    /// - Throws: ``LibraryError/file(_:reason:)``.
    package func open(_ item: Item) throws(LibraryError) -> RecordingFile {
        do {
            return try RecordingFile(reading: FilePath(folder + "/" + item.path))
        } catch {
            throw .file(item.path, reason: "\(error)")
        }
    }

    /// Pins an item, so that retention leaves it alone, or unpins it.
    ///
    /// - Throws: ``LibraryError/unknownItem(_:)``.
    package func pin(_ id: Int64, _ isPinned: Bool) throws(LibraryError) {
        try catalogue.write { db in
            try db.cachedStatement(sql: "UPDATE item SET pinned = ? WHERE id = ?").execute(arguments: [isPinned, id])
            guard db.changesCount > 0 else { throw LibraryError.unknownItem(id) }
        }
    }

    /// Changes labels: sets those with a value, removes those with `nil`, and leaves others as they are.
    ///
    /// The file keeps its own labels. ``rebuild(folder:clock:inspect:)`` returns to them.
    ///
    /// - Returns: All labels of the item.
    /// - Throws: ``LibraryError/unknownItem(_:)``, ``LibraryError/invalid(_:)``.
    @discardableResult
    package func label(_ id: Int64, _ changes: [String: String?]) throws(LibraryError) -> [String: String] {
        try catalogue.write { db in
            guard var facts = try ItemRow.find(id, db)?.facts else { throw LibraryError.unknownItem(id) }
            let former = facts.labels
            for (name, value) in changes { facts.labels[name] = value }
            try ItemFacts.check(labels: facts.labels)
            try ItemLabels.remove(former, of: id, db)
            try ItemLabels.add(facts.labels, to: id, db)
            try db.cachedStatement(sql: "UPDATE item SET labels = ?, words = ? WHERE id = ?")
                .execute(arguments: [FieldList.encode(facts.labels), SearchWords.document(facts), id])
            return facts.labels
        }
    }

    /// Returns the totals of each device that has or had items. Costs one row per device.
    package func totals() throws(LibraryError) -> [String: LibraryTotals] {
        try catalogue.read { try Self.totals(of: "device", $0) }
    }

    /// Returns the totals of each owner.
    package func ownerTotals() throws(LibraryError) -> [String: LibraryTotals] {
        try catalogue.read { try Self.totals(of: "owner", $0) }
    }

    /// Returns the bytes that are free for ordinary users on the library's disk.
    package func freeBytes() throws(LibraryError) -> UInt64 { try Self.freeBytes(of: folder) }

    /// Returns the bytes that are free for ordinary users on a folder's disk.
    static func freeBytes(of folder: String) throws(LibraryError) -> UInt64 {
        var figures = statvfs()
        guard statvfs(folder, &figures) == 0 else { throw .folder(folder, reason: "\(Errno(rawValue: errno))") }
        return figures.freeBytes
    }

    static func totals(of table: String, _ db: Database) throws -> [String: LibraryTotals] {
        var totals: [String: LibraryTotals] = [:]
        let rows = try Row.fetchCursor(db, sql: "SELECT name, items, bytes FROM \(table)")
        while let row = try rows.next() {
            totals[try row.text(0)] = LibraryTotals(items: try row.integer(1), bytes: try row.integer(2))
        }
        return totals
    }
}
