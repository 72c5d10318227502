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
            guard let row = try Row.fetchOne(db, sql: Self.changeState) else {
                throw LibraryError.damaged(catalogue.path, reason: "a row is missing")
            }
            let (epoch, floor, newest) = (try row.text(0), try row.integer(1), try row.integer(2))
            let current = ItemChanges(changes: [], mark: "\(epoch).\(newest)", isTooOld: false)
            guard let mark else { return current }
            let parts = mark.split(separator: ".")
            // Another epoch is that of a database before a rebuild or a restored backup.
            guard parts.count == 2, let seen = Int64(parts[1]), mark == "\(epoch).\(seen)", seen >= floor,
                seen <= newest
            else {
                return ItemChanges(changes: [], mark: current.mark, isTooOld: true)
            }
            var answer = current
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT change.item, change.removed, device.name FROM change \
                        JOIN device ON device.id = change.device WHERE change.seq > ? ORDER BY change.seq
                        """
                ),
                arguments: [seen]
            )
            while let row = try rows.next() {
                guard scope.contains(try row.text(2)) else { continue }
                answer.changes.append(
                    ItemChanges.Change(id: try row.integer(0), isRemoved: try row.integer(1) != 0)
                )
            }
            return answer
        }
    }

    private static let changeState = """
        SELECT epoch, floor, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'change'), 0) FROM meta
        """
}
