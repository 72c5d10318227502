import GRDB

/// How an item is stored.
enum ItemRow {
    /// The columns that `bin` shares with `item`, in the order of the table.
    static let stored = """
        id, path, device, owner, recording, number, session, state, pinned, start, anchor, boot, added, aged, \
        duration, bytes, width, height, fps, keyframes, complete, thumbnail, storyboard, words, sessionName, labels, \
        tracks, gaps
        """

    /// What ``item(_:)`` reads.
    static let selected = """
        item.id, item.path, device.name, owner.name, item.recording, item.number, item.session, item.state, \
        item.pinned, item.start, item.anchor, item.boot, item.added, item.aged, item.duration, item.bytes, \
        item.width, item.height, item.fps, item.keyframes, item.complete, item.thumbnail, item.storyboard, \
        item.sessionName, item.labels, item.tracks, item.gaps
        """

    /// What ``selected`` needs beside `item`.
    static let joined = "JOIN device ON device.id = item.device LEFT JOIN owner ON owner.id = item.owner"

    static func item(_ row: Row) throws(LibraryError) -> Item {
        let facts = ItemFacts(
            recording: try row.text(4),
            number: try row.integer(5),
            device: try row.text(2),
            session: UInt32(clamping: try row.integer(6)),
            sessionName: try row.optionalText(23),
            labels: FieldList.labels(try row.text(24)),
            owner: try row.optionalText(3),
            start: try row.integer(9),
            anchor: try row.integer(10),
            boot: try row.text(11),
            duration: try row.integer(14),
            bytes: try row.integer(15),
            tracks: FieldList.tracks(try row.text(25)),
            width: try row.integer(16),
            height: try row.integer(17),
            fps: try row.number(18),
            gaps: FieldList.gaps(try row.text(26)),
            keyframes: try row.integer(19),
            isComplete: try row.integer(20) != 0
        )
        return Item(
            id: try row.integer(0),
            path: try row.text(1),
            facts: facts,
            state: ItemState(rawValue: try row.integer(7)) ?? .missing,
            isPinned: try row.integer(8) != 0,
            added: try row.integer(12),
            aged: try row.integer(13),
            hasThumbnail: try row.integer(21) != 0,
            hasStoryboard: try row.integer(22) != 0
        )
    }

    /// Inserts an item.
    static func insert(_ item: Item, into db: Database) throws {
        let facts = item.facts
        let device = try number(of: facts.device, in: "device", db)
        let owner = try facts.owner.map { try number(of: $0, in: "owner", db) }
        let values: [(any DatabaseValueConvertible)?] = [
            item.id, item.path, device, owner, facts.recording, facts.number, Int64(facts.session),
            item.state.rawValue, item.isPinned, facts.start, facts.anchor, facts.boot, item.added, item.aged,
            facts.duration, facts.bytes, facts.width, facts.height, facts.fps, facts.keyframes, facts.isComplete,
            item.hasThumbnail, item.hasStoryboard, SearchWords.document(facts), facts.sessionName,
            FieldList.encode(facts.labels), FieldList.encode(facts.tracks), FieldList.encode(facts.gaps),
        ]
        let places = values.map { _ in "?" }.joined(separator: ", ")
        try db.cachedStatement(sql: "INSERT INTO item (\(stored)) VALUES (\(places))")
            .execute(arguments: StatementArguments(values))
        try ItemLabels.add(facts.labels, to: item.id, db)
    }

    /// Updates what a file says about its media. Device, session, labels and times stay: labels may have been edited.
    static func update(_ id: Int64, _ facts: ItemFacts, _ state: ItemState, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                UPDATE item SET state = ?, duration = ?, bytes = ?, width = ?, height = ?, fps = ?, keyframes = ?, \
                complete = ?, tracks = ?, gaps = ? WHERE id = ?
                """
        ).execute(arguments: [
            state.rawValue, facts.duration, facts.bytes, facts.width, facts.height, facts.fps, facts.keyframes,
            facts.isComplete, FieldList.encode(facts.tracks), FieldList.encode(facts.gaps), id,
        ])
    }

    /// Removes an item, and what it has in other tables.
    static func remove(_ item: Item, _ db: Database) throws {
        try ItemLabels.remove(item.facts.labels, of: item.id, db)
        try db.cachedStatement(sql: "DELETE FROM item WHERE id = ?").execute(arguments: [item.id])
    }

    static func find(_ id: Int64, _ db: Database) throws -> Item? {
        let statement = try db.cachedStatement(sql: "SELECT \(selected) FROM item \(joined) WHERE item.id = ?")
        return try Row.fetchOne(statement, arguments: [id]).map(item)
    }

    static func find(path: String, _ db: Database) throws -> Item? {
        let statement = try db.cachedStatement(sql: "SELECT \(selected) FROM item \(joined) WHERE item.path = ?")
        return try Row.fetchOne(statement, arguments: [path]).map(item)
    }

    /// Returns the number of a device or an owner, which is new if need be.
    static func number(of name: String, in table: String, _ db: Database) throws -> Int64 {
        let select = try db.cachedStatement(sql: "SELECT id FROM \(table) WHERE name = ?")
        if let known = try Int64.fetchOne(select, arguments: [name]) { return known }
        try db.cachedStatement(sql: "INSERT INTO \(table) (name) VALUES (?)").execute(arguments: [name])
        return db.lastInsertedRowID
    }
}
