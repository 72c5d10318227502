import GRDB

extension Library {
    /// Returns what has changed since a mark.
    ///
    /// To follow the library, take a mark with `nil`, list the items, and pass each answer's mark to the next call.
    ///
    /// - Parameters:
    ///   - mark: The mark of the former answer; `nil` returns only the current mark.
    ///   - scope: The devices whose changes the caller may see.
    package func changes(since mark: String?, scope: DeviceScope = .all) throws(LibraryError) -> ItemChanges {
        try catalogue.read { db in
            let log = try ChangeLog(db)
            let current = ItemChanges(changes: [], mark: log.mark, isTooOld: false)
            guard let mark else { return current }
            guard let seen = log.number(of: mark) else {
                return ItemChanges(changes: [], mark: log.mark, isTooOld: true)
            }
            var answer = current
            answer.changes = try ChangeLog.entries(after: seen, scope: scope, db).map {
                ItemChanges.Change(id: $0.item, isRemoved: $0.isRemoved)
            }
            return answer
        }
    }

    /// Calls `body` after each change, with the items that it was about. The thread that made the change waits for it.
    ///
    /// There is one observer. It stays until the library is closed.
    package func observe(_ body: @escaping @Sendable (ItemCommit) -> Void) { catalogue.observe(body) }

    /// Returns the device of an item that was removed; `nil` if that was too long ago.
    package func device(ofRemoved id: Int64) throws(LibraryError) -> String? {
        try catalogue.read { db in
            let sql = "SELECT name FROM device WHERE id = (SELECT device FROM change WHERE item = ?)"
            return try String.fetchOne(try db.cachedStatement(sql: sql), arguments: [id])
        }
    }

    /// The mark of this moment.
    package func mark() throws(LibraryError) -> String { try catalogue.read { try ChangeLog($0).mark } }
}
