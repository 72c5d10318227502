import GRDB
import Glibc

/// A caller's copy of the catalogue of another machine, which lists and searches like ``Library``.
///
/// ``Library/copy(since:scope:leastFree:)`` makes it and brings it up to date:
///
///     try CatalogueCopy.update("/home/me/catalogue.sqlite", with: "/home/me/catalogue.new", since: nil)
///     let items = try CatalogueCopy("/home/me/catalogue.sqlite").items(ItemQuery())
///
/// Files come from another machine. They are checked before they are used: they can be refused, but not do harm.
package final class CatalogueCopy: Sendable {
    private let path: String
    private let database: DatabaseQueue

    /// Opens a copy.
    ///
    /// - Throws: ``LibraryError/folder(_:reason:)`` if there is none, ``LibraryError/damaged(_:reason:)``,
    ///   ``LibraryError/storage(reason:)``.
    package convenience init(_ path: String) throws(LibraryError) { try self.init(path, isTrusted: true) }

    /// - Parameter isTrusted: Whether the schema is known to be this release's.
    private init(_ path: String, isTrusted: Bool) throws(LibraryError) {
        guard access(path, R_OK) == 0 else { throw .folder(path, reason: "there is no copy") }
        self.path = path
        do {
            var configuration = Configuration()
            configuration.busyMode = .timeout(5)
            configuration.foreignKeysEnabled = false
            if !isTrusted { configuration.prepareDatabase { try $0.execute(sql: "PRAGMA trusted_schema = OFF") } }
            // Not read-only, because SQLite then cannot take back what an interrupted update has left.
            database = try DatabaseQueue(path: path, configuration: configuration)
        } catch {
            throw Catalogue.fault(error, path)
        }
    }

    /// The moment that it shows: what ``Library/copy(since:scope:leastFree:)`` takes.
    package func mark() throws(LibraryError) -> String { try read { try ChangeLog($0).mark } }

    /// Lists items, as ``Library/items(_:scope:)`` does.
    package func items(_ query: ItemQuery) throws(LibraryError) -> ItemPage {
        let page = try read { try ItemSearch(query, scope: .all, $0).page($0) }
        for item in page.items { try item.facts.check() }
        return page
    }

    /// Returns an item; `nil` if there is none.
    package func item(_ id: Int64) throws(LibraryError) -> Item? {
        let item = try read { try ItemRow.find(id, $0) }
        try item?.facts.check()
        return item
    }

    /// Returns the number of items and their bytes on the other machine.
    package func totals() throws(LibraryError) -> LibraryTotals {
        try read { try Library.totals(of: "device", $0).values.reduce(LibraryTotals()) { $0 + $1 } }
    }

    private func read<Value>(_ body: (Database) throws -> Value) throws(LibraryError) -> Value {
        do { return try database.read(body) } catch { throw Catalogue.fault(error, path) }
    }

    // MARK: Updates

    /// Brings a copy up to date. Only one caller may do that at a time; others may read.
    ///
    /// - Parameters:
    ///   - path: The copy, which may be missing if there is no mark.
    ///   - file: What the other machine has sent. It is removed.
    ///   - mark: The copy's mark that the other machine was told.
    /// - Throws: ``LibraryError/damaged(_:reason:)`` or ``LibraryError/newer(found:known:)`` if it is not a catalogue
    ///   of this release, ``LibraryError/storage(reason:)``. The copy then stays as it is.
    package static func update(_ path: String, with file: String, since mark: String?) throws(LibraryError) {
        defer { DatabaseFile.remove(file) }
        let news = try CatalogueCopy(file, isTrusted: false)
        let log = try news.read { db in
            try Schema.requireExact(db, file)
            try DatabaseFile.requireSound(db, file)
            return try ChangeLog(db)
        }
        guard mark == log.floorMark else {
            try news.close()
            return try DatabaseFile.move(file, to: path)
        }
        let copy = try CatalogueCopy(path)
        guard try copy.mark() == mark else { throw .damaged(path, reason: "it has changed meanwhile") }
        try copy.apply(log, from: news)
    }

    /// Replaces what has changed.
    private func apply(_ log: ChangeLog, from news: CatalogueCopy) throws(LibraryError) {
        try news.read { news in
            let entries = try ChangeLog.entries(after: log.floor, scope: .all, news)
            try database.write { db in
                for entry in entries {
                    if let former = try ItemRow.find(entry.item, db) { try ItemRow.remove(former, db) }
                }
                try ChangeLog.copyItems(of: entries, from: news, to: db)
                var log = log
                log.floor = log.newest
                try log.store([], db)
            }
        }
    }

    private func close() throws(LibraryError) {
        do { try database.close() } catch { throw Catalogue.fault(error, path) }
    }
}
