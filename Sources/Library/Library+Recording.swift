import Files
import GRDB
import SystemPackage

extension Library {
    /// Creates the folder of an item's file, for its owner only.
    ///
    /// - Returns: The file's absolute path.
    /// - Throws: ``LibraryError/badPath(_:)``, ``LibraryError/folder(_:reason:)``.
    package func prepareFolder(for path: String) throws(LibraryError) -> String {
        _ = try LibraryLayout.parts(of: path)
        let file = folder + "/" + path
        do {
            try ReplacedFile.createFolder(of: FilePath(file))
        } catch {
            throw .folder(file, reason: "\(error)")
        }
        return file
    }

    /// Adds an item that a recorder begins to write. The file may be created before or after.
    ///
    /// - Parameters:
    ///   - facts: What is known at the start.
    ///   - path: The file's path relative to the folder, from ``LibraryLayout/path(for:)``.
    /// - Returns: The item's id.
    /// - Throws: ``LibraryError/invalid(_:)``, ``LibraryError/badPath(_:)``, ``LibraryError/pathTaken(_:)``.
    package func begin(_ facts: ItemFacts, path: String) throws(LibraryError) -> Int64 {
        let moment = now()
        return try catalogue.write { try add(facts, path: path, state: .recording, (false, false), moment, $0) }
    }

    /// Writes how far recordings have come: once a second, all of them in one call.
    ///
    /// Ignores items that are not being recorded, because one may just have finished.
    package func update(_ progress: [ItemProgress]) throws(LibraryError) {
        try catalogue.write { db in
            let figures = try db.cachedStatement(
                sql: "UPDATE item SET duration = ?, bytes = ?, keyframes = ? WHERE id = ? AND state = 0"
            )
            let gaps = try db.cachedStatement(sql: "UPDATE item SET gaps = ? WHERE id = ? AND state = 0")
            for item in progress {
                try figures.execute(arguments: [
                    max(0, item.duration), max(0, item.bytes), max(0, item.keyframes), item.id,
                ])
                if let list = item.gaps { try gaps.execute(arguments: [FieldList.encode(list), item.id]) }
            }
        }
    }

    /// Ends a recording: the item becomes complete, or interrupted if the file was not finalised.
    ///
    /// Device, session, labels and times stay as ``begin(_:path:)`` set them.
    ///
    /// - Throws: ``LibraryError/unknownItem(_:)``, ``LibraryError/notRecording(_:)``, ``LibraryError/invalid(_:)``.
    package func finish(_ id: Int64, _ facts: ItemFacts) throws(LibraryError) {
        try facts.check()
        try catalogue.write { db in
            guard let item = try ItemRow.find(id, db) else { throw LibraryError.unknownItem(id) }
            guard item.state == .recording else { throw LibraryError.notRecording(id) }
            try ItemRow.update(id, facts, ItemState(of: facts), db)
        }
        setLive(id, false)
    }

    /// Records whether an item has a thumbnail or a storyboard; `nil` leaves it as it is.
    ///
    /// - Throws: ``LibraryError/unknownItem(_:)``.
    package func setCompanions(
        _ id: Int64,
        thumbnail: Bool? = nil,
        storyboard: Bool? = nil
    ) throws(LibraryError) {
        try catalogue.write { db in
            try db.cachedStatement(
                sql: """
                    UPDATE item SET thumbnail = coalesce(?, thumbnail), storyboard = coalesce(?, storyboard) \
                    WHERE id = ?
                    """
            ).execute(arguments: [thumbnail, storyboard, id])
            guard db.changesCount > 0 else { throw LibraryError.unknownItem(id) }
        }
    }

    /// Adds complete items in a few transactions, without a look at their files. It is for measurements.
    package func importItems(_ items: some Sequence<(facts: ItemFacts, path: String)>) throws(LibraryError) {
        var rest = items.makeIterator()
        var isMore = true
        while isMore {
            let moment = now()
            try catalogue.write { db in
                for _ in 0..<5000 {
                    guard let (facts, path) = rest.next() else {
                        isMore = false
                        return
                    }
                    _ = try add(facts, path: path, state: .complete, (false, false), moment, db)
                }
            }
        }
    }

    /// Adds an item.
    ///
    /// - Parameter companions: Whether there is a thumbnail and a storyboard.
    func add(
        _ facts: ItemFacts,
        path: String,
        state: ItemState,
        _ companions: (thumbnail: Bool, storyboard: Bool),
        _ moment: (reading: ClockReading, clock: LibraryClock),
        _ db: Database
    ) throws -> Int64 {
        try facts.check()
        _ = try LibraryLayout.parts(of: path)
        let taken = try db.cachedStatement(
            sql: "SELECT EXISTS (SELECT 1 FROM item WHERE path = ?1) OR EXISTS (SELECT 1 FROM bin WHERE path = ?1)"
        )
        guard try Bool.fetchOne(taken, arguments: [path]) == false else { throw LibraryError.pathTaken(path) }
        let item = Item(
            id: try Self.freeID(from: facts.start, db),
            path: path,
            facts: facts,
            state: state,
            isPinned: false,
            added: moment.reading.wall,
            aged: moment.clock.time,
            hasThumbnail: companions.thumbnail,
            hasStoryboard: companions.storyboard
        )
        try ItemRow.insert(item, into: db)
        try moment.clock.store(db)
        // Before the transaction ends, so that nothing sees a recording item that no recorder writes.
        if state == .recording { setLive(item.id, true) }
        return item.id
    }

    /// Returns the first id from a start that neither an item nor a deleted one has.
    private static func freeID(from start: Int64, _ db: Database) throws -> Int64 {
        let taken = try db.cachedStatement(
            sql: "SELECT EXISTS (SELECT 1 FROM item WHERE id = ?1) OR EXISTS (SELECT 1 FROM bin WHERE id = ?1)"
        )
        var (id, tries) = (start, 0)
        while try Bool.fetchOne(taken, arguments: [id]) == true {
            tries += 1
            // Many copies of one file would otherwise take ever longer.
            id += tries < 64 ? 1 : Int64.random(in: 1...1_000_000)
        }
        return id
    }
}
