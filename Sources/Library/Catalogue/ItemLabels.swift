import GRDB

/// The index of labels: which items have a label with a value.
enum ItemLabels {
    /// Returns the number of a label with this value; `nil` if no item has it.
    static func number(_ name: String, _ value: String, _ db: Database) throws -> Int64? {
        let statement = try db.cachedStatement(sql: "SELECT id FROM label WHERE name = ? AND value = ?")
        return try Int64.fetchOne(statement, arguments: [name, value])
    }

    static func add(_ labels: [String: String], to item: Int64, _ db: Database) throws {
        for (name, value) in labels {
            var label = try number(name, value, db)
            if label == nil {
                try db.cachedStatement(sql: "INSERT INTO label (name, value) VALUES (?, ?)")
                    .execute(arguments: [name, value])
                label = db.lastInsertedRowID
            }
            try db.cachedStatement(sql: "INSERT OR IGNORE INTO itemLabel (label, item) VALUES (?, ?)")
                .execute(arguments: [label, item])
        }
    }

    /// Removes an item's labels, and values that no item has any more.
    static func remove(_ labels: [String: String], of item: Int64, _ db: Database) throws {
        for (name, value) in labels {
            guard let label = try number(name, value, db) else { continue }
            try db.cachedStatement(sql: "DELETE FROM itemLabel WHERE label = ? AND item = ?")
                .execute(arguments: [label, item])
            try db.cachedStatement(
                sql: "DELETE FROM label WHERE id = ? AND NOT EXISTS (SELECT 1 FROM itemLabel WHERE label = label.id)"
            ).execute(arguments: [label])
        }
    }
}
