import GRDB

/// The catalogue's tables. A change of them is a new migration; those that were released never change.
enum Schema {
    /// The newest version that this code knows. The database keeps its own in `user_version`.
    static let version = 1

    static func migrator() -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            for statement in first { try db.execute(sql: statement) }
            try db.execute(sql: "PRAGMA user_version = 1")
        }
        return migrator
    }

    /// Checks that a database has a catalogue's version.
    static func requireKnown(_ db: Database, _ file: String) throws {
        let found = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        guard found <= version else { throw LibraryError.newer(found: found, known: version) }
        guard found > 0 else { throw LibraryError.damaged(file, reason: "it is not a catalogue") }
    }

    /// Checks that a database has this schema and nothing else: no trigger or view of another hand.
    static func requireExact(_ db: Database, _ file: String) throws {
        try requireKnown(db, file)
        // A log beside the file would come from another hand, too.
        guard try String.fetchOne(db, sql: "PRAGMA journal_mode") == "delete" else {
            throw LibraryError.damaged(file, reason: "it needs a log")
        }
        let own = try DatabaseQueue()
        try migrator().migrate(own)
        let sql = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"
        guard try Row.fetchAll(db, sql: sql) == own.read({ try Row.fetchAll($0, sql: sql) }) else {
            throw LibraryError.damaged(file, reason: "it is not a catalogue")
        }
    }

    /// The columns of `item` and `bin`. Small ones come first, so that filters do not read a row's overflow pages.
    private static let columns = """
        id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, device INTEGER NOT NULL, owner INTEGER,
        recording TEXT NOT NULL, number INTEGER NOT NULL, session INTEGER NOT NULL, state INTEGER NOT NULL,
        pinned INTEGER NOT NULL, start INTEGER NOT NULL, anchor INTEGER NOT NULL, boot TEXT NOT NULL,
        added INTEGER NOT NULL, aged INTEGER NOT NULL, duration INTEGER NOT NULL, bytes INTEGER NOT NULL,
        width INTEGER NOT NULL, height INTEGER NOT NULL, fps REAL NOT NULL, keyframes INTEGER NOT NULL,
        complete INTEGER NOT NULL, thumbnail INTEGER NOT NULL, storyboard INTEGER NOT NULL,
        words TEXT NOT NULL, sessionName TEXT, labels TEXT NOT NULL, tracks TEXT NOT NULL, gaps TEXT NOT NULL
        """

    /// The bytes of a row's file on the disk, for totals.
    private static func disk(_ row: String) -> String { "iif(\(row).state = 3, 0, \(row).bytes)" }

    /// The lengths of beginnings of words that have an index each.
    private static let prefixes = (1..<SearchWords.longest).map(String.init).joined(separator: " ")

    private static let first = [
        // Totals are kept by triggers, so that a gauge reads one row.
        "CREATE TABLE device (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, \(totals)) STRICT",
        "CREATE TABLE owner (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, \(totals)) STRICT",
        "CREATE TABLE item (\(columns)) STRICT",
        // Deleted items, until their files are gone. `due` is when to remove the files, in monotonic ns of this run.
        "CREATE TABLE bin (\(columns), due INTEGER NOT NULL) STRICT",

        // Every index ends with the id, so each serves one filter in the order of time.
        "CREATE INDEX itemDevice ON item(device)",
        "CREATE INDEX itemSession ON item(session)",
        "CREATE INDEX itemRecording ON item(recording)",
        "CREATE INDEX itemState ON item(state)",
        "CREATE INDEX itemPinned ON item(pinned) WHERE pinned = 1",
        "CREATE INDEX itemAge ON item(aged) WHERE pinned = 0 AND state <> 0",

        "CREATE TABLE label (id INTEGER PRIMARY KEY, name TEXT NOT NULL, value TEXT NOT NULL, UNIQUE (name, value)) STRICT",
        """
        CREATE TABLE itemLabel (label INTEGER NOT NULL, item INTEGER NOT NULL, PRIMARY KEY (label, item))
        STRICT, WITHOUT ROWID
        """,

        // The search needs ids only. The words contain nothing that this tokenizer would split.
        """
        CREATE VIRTUAL TABLE search USING fts5 (words, content='item', content_rowid='id', detail='none',
        columnsize=0, prefix='\(prefixes)', tokenize='ascii')
        """,

        """
        CREATE TABLE change (seq INTEGER PRIMARY KEY AUTOINCREMENT, item INTEGER NOT NULL UNIQUE,
        device INTEGER NOT NULL, removed INTEGER NOT NULL) STRICT
        """,
        // One row. `floor` is the highest change that was dropped. The clock is LibraryClock's.
        """
        CREATE TABLE meta (id INTEGER PRIMARY KEY CHECK (id = 1), epoch TEXT NOT NULL, floor INTEGER NOT NULL,
        clock INTEGER NOT NULL, wall INTEGER NOT NULL, monotonic INTEGER NOT NULL, boot TEXT NOT NULL) STRICT
        """,
        "INSERT INTO meta VALUES (1, lower(hex(randomblob(8))), 0, 0, 0, 0, '')",

        """
        CREATE TRIGGER itemAdded AFTER INSERT ON item BEGIN
            UPDATE device SET items = items + 1, bytes = bytes + \(disk("new")) WHERE id = new.device;
            UPDATE owner SET items = items + 1, bytes = bytes + \(disk("new")) WHERE id = new.owner;
            INSERT INTO search (rowid, words) VALUES (new.id, new.words);
            INSERT OR REPLACE INTO change (item, device, removed) VALUES (new.id, new.device, 0);
        END
        """,
        """
        CREATE TRIGGER itemRemoved AFTER DELETE ON item BEGIN
            UPDATE device SET items = items - 1, bytes = bytes - \(disk("old")) WHERE id = old.device;
            UPDATE owner SET items = items - 1, bytes = bytes - \(disk("old")) WHERE id = old.owner;
            INSERT INTO search (search, rowid, words) VALUES ('delete', old.id, old.words);
            INSERT OR REPLACE INTO change (item, device, removed) VALUES (old.id, old.device, 1);
        END
        """,
        """
        CREATE TRIGGER itemChanged AFTER UPDATE ON item BEGIN
            UPDATE device SET bytes = bytes + \(disk("new")) - \(disk("old")) WHERE id = new.device;
            UPDATE owner SET bytes = bytes + \(disk("new")) - \(disk("old")) WHERE id = new.owner;
            INSERT OR REPLACE INTO change (item, device, removed) VALUES (new.id, new.device, 0);
        END
        """,
        """
        CREATE TRIGGER itemWords AFTER UPDATE OF words ON item WHEN new.words <> old.words BEGIN
            INSERT INTO search (search, rowid, words) VALUES ('delete', old.id, old.words);
            INSERT INTO search (rowid, words) VALUES (new.id, new.words);
        END
        """,
        // An item's later change replaces its earlier one, so the log has at most one row per item. Now and then the
        // oldest rows beyond the limit go.
        """
        CREATE TRIGGER changeAdded AFTER INSERT ON change WHEN new.seq % 256 = 0 BEGIN
            UPDATE meta SET floor = max(floor, coalesce(
                (SELECT seq FROM change ORDER BY seq DESC LIMIT 1 OFFSET \(ItemChanges.mostKept)), 0));
            DELETE FROM change WHERE seq <= (SELECT floor FROM meta);
        END
        """,
    ]

    private static let totals = "items INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0"
}
