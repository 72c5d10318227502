import GRDB
import SystemPackage

/// A copy of a catalogue, or of what changed in it, on the way to another machine.
package struct CopiedCatalogue: Sendable {
    /// An SQLite database for ``CatalogueCopy/update(_:with:since:)``. It has no name, so it goes when it is closed.
    package let file: RecordingFile
    /// The moment that it shows.
    package let mark: String
}

extension Library {
    /// How the names of copies begin while they are made, in the library's folder.
    private static let copyPrefix = "catalogue.copy-"

    /// Copies the catalogue for a caller that keeps a ``CatalogueCopy``: one moment of it, without deleted items and
    /// the library's clocks. Writes go on meanwhile.
    ///
    /// - Parameters:
    ///   - mark: The mark of the caller's copy. If the log reaches back to it, only what changed since is copied.
    ///   - scope: The devices whose items the caller may see.
    ///   - leastFree: The bytes that must stay free on the library's disk if everything is copied.
    /// - Throws: ``LibraryError/storage(reason:)``, also if the disk has no room for the copy.
    package func copy(
        since mark: String? = nil,
        scope: DeviceScope = .all,
        leastFree: UInt64 = 0
    ) throws(LibraryError) -> CopiedCatalogue {
        let path = "\(folder)/\(Self.copyPrefix)\(nextCopy()).sqlite"
        defer { DatabaseFile.remove(path) }
        let log: ChangeLog
        if let changes = try mark.flatMap({ (mark) throws(LibraryError) in try copyChanges(since: mark, scope, path) })
        {
            log = changes
        } else {
            try requireRoom(leaving: leastFree)
            switch scope {
            case .all: log = try copyPages(to: path)
            case .only(let devices): log = try copyItems(of: devices, scope, to: path)
            }
        }
        do {
            return CopiedCatalogue(file: try RecordingFile(reading: FilePath(path)), mark: log.mark)
        } catch {
            throw .folder(path, reason: "\(error)")
        }
    }

    /// Returns the mark that a copy would have now, and whether one since a mark has only what changed.
    package func copyState(
        since mark: String?,
        scope: DeviceScope = .all
    ) throws(LibraryError) -> (mark: String, isChanges: Bool) {
        let log = try catalogue.read { try ChangeLog($0, scope) }
        return (log.mark, mark.flatMap { log.number(of: $0) } != nil)
    }

    /// Removes what a crash has left of copies. The caller holds the folder's lock.
    static func removeCopies(_ folder: String) throws(LibraryError) {
        let disk = try DiskFolder(path: folder)
        for entry in try disk.entries() where entry.name.hasPrefix(copyPrefix) { try disk.remove(entry.name) }
    }

    private func requireRoom(leaving least: UInt64) throws(LibraryError) {
        let (free, bytes) = (try freeBytes(), try catalogue.bytes())
        guard free >= least, free &- least >= bytes else {
            throw .storage(
                reason: "a copy of \(bytes >> 20) MiB does not fit: its disk has \(free >> 20) MiB free, and "
                    + "\(least >> 20) MiB must stay free"
            )
        }
    }

    /// - Returns: `nil` if the log does not reach back to the mark.
    private func copyChanges(
        since mark: String,
        _ scope: DeviceScope,
        _ path: String
    ) throws(LibraryError) -> ChangeLog? {
        try catalogue.read { db in
            var log = try ChangeLog(db, scope)
            guard let seen = log.number(of: mark) else { return nil }
            log.floor = seen
            let entries = try ChangeLog.entries(after: seen, scope: scope, db)
            try Self.fill(path, log, entries) { try ChangeLog.copyItems(of: entries, from: db, to: $0) }
            return log
        }
    }

    private func copyItems(
        of devices: Set<String>,
        _ scope: DeviceScope,
        to path: String
    ) throws(LibraryError) -> ChangeLog {
        try catalogue.read { db in
            var log = try ChangeLog(db, scope)
            log.floor = log.newest
            let select = try db.cachedStatement(
                sql: "SELECT \(ItemRow.selected) FROM item \(ItemRow.joined) WHERE device.name = ?"
            )
            try Self.fill(path, log, []) { copy in
                for device in devices.sorted() {
                    let items = try Row.fetchCursor(select, arguments: [device])
                    while let row = try items.next() { try ItemRow.insert(try ItemRow.item(row), into: copy) }
                }
            }
            return log
        }
    }

    /// Fills a new catalogue with items.
    private static func fill(
        _ path: String,
        _ log: ChangeLog,
        _ entries: [ChangeLog.Entry],
        items: (Database) throws -> Void
    ) throws {
        try DatabaseFile.create(path)
        let copy = try DatabaseQueue(path: path, configuration: copyConfiguration)
        try Schema.migrator().migrate(copy)
        try copy.write { db in
            try items(db)
            try log.store(entries, db)
        }
        try copy.close()
    }

    private func copyPages(to path: String) throws(LibraryError) -> ChangeLog {
        try DatabaseFile.create(path)
        try catalogue.vacuum(into: path)
        do {
            let copy = try DatabaseQueue(path: path, configuration: Self.copyConfiguration)
            let log = try copy.write { db in
                var log = try ChangeLog(db)
                log.floor = log.newest
                try log.store([], db)
                try db.execute(sql: "DELETE FROM bin")
                // The index keeps the words of deleted items until its parts are merged.
                try db.execute(sql: "INSERT INTO search (search) VALUES ('optimize')")
                try db.execute(sql: "UPDATE meta SET clock = 0, wall = 0, monotonic = 0, boot = ''")
                return log
            }
            try copy.close()
            return log
        } catch {
            throw Catalogue.fault(error, path)
        }
    }

    /// A crash loses the copy anyway. Deleted rows are overwritten.
    private static var copyConfiguration: Configuration {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA synchronous = OFF")
            try db.execute(sql: "PRAGMA secure_delete = ON")
        }
        return configuration
    }
}

extension ChangeLog {
    /// Reads the state for copies of a scope. Their marks differ from those of other scopes.
    fileprivate init(_ db: Database, _ scope: DeviceScope) throws {
        try self.init(db)
        guard case .only(let devices) = scope else { return }
        // A caller that makes a mark up gets only what it may see.
        epoch += "-" + String(StableHash.of(devices.sorted().joined(separator: "\n")), radix: 16)
    }
}
