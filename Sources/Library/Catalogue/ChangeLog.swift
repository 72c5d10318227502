import GRDB

/// The state of a catalogue's log of changes at one moment.
struct ChangeLog: Equatable {
    /// An item's latest change.
    struct Entry {
        /// Its place in the log.
        let number: Int64
        let item: Int64
        let isRemoved: Bool
        let device: String
    }

    /// Which history it is of: random, and new after a rebuild, a restored backup or a restart of the machine.
    var epoch: String
    /// The log has all changes after this one.
    var floor: Int64
    /// The newest change; 0 if there was none.
    let newest: Int64

    /// Reads the state.
    init(_ db: Database) throws {
        let state = """
            SELECT epoch, floor, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'change'), 0) FROM meta
            """
        guard let row = try Row.fetchOne(db, sql: state) else {
            throw LibraryError.damaged(Catalogue.fileName, reason: "a row is missing")
        }
        (epoch, floor, newest) = (try row.text(0), try row.integer(1), try row.integer(2))
    }

    /// The mark of this moment.
    var mark: String { "\(epoch).\(newest)" }

    /// The mark from which on the log has all changes.
    var floorMark: String { "\(epoch).\(floor)" }

    /// Returns the number of the newest change before a mark; `nil` if the log does not reach back to it.
    func number(of mark: String) -> Int64? {
        let parts = mark.split(separator: ".")
        guard parts.count == 2, let seen = Int64(parts[1], radix: 10), mark == "\(epoch).\(seen)",
            floor <= seen, seen <= newest
        else { return nil }
        return seen
    }

    /// Returns the changes after one, in order.
    static func entries(after number: Int64, scope: DeviceScope, _ db: Database) throws -> [Entry] {
        let select = try db.cachedStatement(
            sql: """
                SELECT change.seq, change.item, change.removed, device.name FROM change \
                JOIN device ON device.id = change.device WHERE change.seq > ? ORDER BY change.seq
                """
        )
        var entries: [Entry] = []
        let rows = try Row.fetchCursor(select, arguments: [number])
        while let row = try rows.next() {
            let entry = Entry(
                number: try row.integer(0),
                item: try row.integer(1),
                isRemoved: try row.integer(2) != 0,
                device: try row.text(3)
            )
            if scope.contains(entry.device) { entries.append(entry) }
        }
        return entries
    }

    /// Inserts the items that changed into another catalogue, which has none of them.
    static func copyItems(of entries: [Entry], from db: Database, to copy: Database) throws {
        for entry in entries where !entry.isRemoved {
            if let item = try ItemRow.find(entry.item, db) { try ItemRow.insert(item, into: copy) }
        }
    }

    /// Makes all marks invalid, so that callers list again.
    static func renew(_ db: Database) throws {
        try db.execute(sql: "UPDATE meta SET epoch = lower(hex(randomblob(8)))")
    }

    /// Replaces the log of a copy, which is another database.
    ///
    /// - Parameter entries: The changes after ``floor``.
    func store(_ entries: [Entry], _ db: Database) throws {
        try db.execute(sql: "DELETE FROM change")
        for entry in entries {
            let device = try ItemRow.number(of: entry.device, in: "device", db)
            try db.cachedStatement(sql: "INSERT INTO change (seq, item, device, removed) VALUES (?, ?, ?, ?)")
                .execute(arguments: [entry.number, entry.item, device, entry.isRemoved])
        }
        try db.execute(sql: "DELETE FROM sqlite_sequence WHERE name = 'change'")
        try db.execute(sql: "INSERT INTO sqlite_sequence (name, seq) VALUES ('change', ?)", arguments: [newest])
        try db.execute(sql: "UPDATE meta SET epoch = ?, floor = ?", arguments: [epoch, floor])
    }
}
