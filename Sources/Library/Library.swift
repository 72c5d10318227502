import Files
import GRDB
import Synchronization
import SystemPackage

/// The catalogue of recordings, and their files in one folder.
///
/// An *item* is one MP4 file. A recording is the items of one id, numbered from 0. The recorder calls
/// ``begin(_:path:)`` when it creates a file, ``update(_:)`` about once a second and ``finish(_:_:)`` at the end:
///
///     let library = try Library(folder: "/var/lib/heliograph/library")
///     let report = try library.reconcile { try inspect($0) }
///     let id = try library.begin(facts, path: LibraryLayout.path(for: facts))
///
/// Any thread may call it. Each call blocks until the disk is done, so the media loop must not call it.
package final class Library: Sendable {
    /// How long a deleted item can be restored, in s.
    package static let grace = 60
    /// The bytes that must be free on the disk when the catalogue is opened.
    ///
    /// SQLite maps its `-shm` file into memory, 32 KiB for 16 MB of the log. A write into it ends the process by SIGBUS
    /// if the disk has no block left for it.
    package static let leastFree: UInt64 = 1 << 20

    /// The folder's path.
    package let folder: String
    let catalogue: Catalogue
    private let lock: FolderLock
    private let clock: @Sendable () -> ClockReading
    private let state: Mutex<State>
    /// The turn to change a playlist.
    let playlistTurn = Mutex(())

    private struct State {
        var clock: LibraryClock
        /// The items that a recorder of this process is writing.
        var live: Set<Int64> = []
        /// How many copies of the catalogue were begun.
        var copies = 0
        /// The files for import that cannot be moved.
        var stuck: Set<String> = []
        var isClosed = false
    }

    /// Opens the library, and creates it if it is missing.
    ///
    /// Call ``reconcile(_:)`` before the first recording.
    ///
    /// - Parameters:
    ///   - leastFree: The bytes that must be free; tests pass their own.
    ///   - clock: Reads the clocks; tests pass their own.
    /// - Throws: ``LibraryError/inUse(folder:)``, ``LibraryError/folder(_:reason:)``,
    ///   ``LibraryError/newer(found:known:)``, ``LibraryError/damaged(_:reason:)``, ``LibraryError/storage(reason:)``.
    package convenience init(
        folder: String,
        leastFree: UInt64 = Library.leastFree,
        clock: @escaping @Sendable () -> ClockReading = ClockReading.system
    ) throws(LibraryError) {
        let lock = try Self.prepare(folder)
        try Self.removeCopies(folder)
        let database = folder + "/" + Catalogue.fileName
        try self.init(folder: folder, lock: lock, database: database, leastFree: leastFree, clock: clock)
    }

    /// - Parameter database: The database's path: another one while the catalogue is rebuilt.
    init(
        folder: String,
        lock: FolderLock,
        database: String,
        leastFree: UInt64 = Library.leastFree,
        clock: @escaping @Sendable () -> ClockReading
    ) throws(LibraryError) {
        self.folder = folder
        self.clock = clock
        self.lock = lock
        catalogue = try Catalogue(path: database, leastFree: leastFree)
        let reading = clock()
        var own = try catalogue.read { try LibraryClock.stored($0, now: reading) }
        let isOtherBoot = own.last.boot != reading.boot
        own.advance(to: reading)
        state = Mutex(State(clock: own))
        try catalogue.write { [own] db in
            // A loss of power may have taken the last changes back, which callers have seen.
            if isOtherBoot { try ChangeLog.renew(db) }
            try own.store(db)
        }
    }

    /// Creates the folder and locks it.
    static func prepare(_ folder: String) throws(LibraryError) -> FolderLock {
        do {
            try ReplacedFile.createFolder(of: FilePath(folder).appending("recordings").appending("x"))
        } catch {
            throw .folder(folder, reason: "\(error)")
        }
        // A link here would make all files look missing, because links are not followed.
        _ = try DiskFolder(path: folder + "/" + LibraryLayout.recordings)
        return try FolderLock(folder: folder)
    }

    /// Closes the database. Later calls fail, except for this one.
    package func close() throws(LibraryError) {
        let isOpen = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        if isOpen { try catalogue.close() }
    }

    /// Returns the clocks now, and the library's own time in µs.
    func now() -> (reading: ClockReading, clock: LibraryClock) {
        let reading = clock()
        return state.withLock { state in
            state.clock.advance(to: reading)
            return (reading, state.clock)
        }
    }

    /// Returns a number for the name of a copy.
    func nextCopy() -> Int {
        state.withLock { state in
            state.copies += 1
            return state.copies
        }
    }

    /// Whether a file for import cannot be moved.
    func isStuck(_ path: String) -> Bool { state.withLock { $0.stuck.contains(path) } }

    func setStuck(_ path: String) { state.withLock { _ = $0.stuck.insert(path) } }

    /// Whether a recorder of this process is writing the item.
    func isLive(_ id: Int64) -> Bool { state.withLock { $0.live.contains(id) } }

    func setLive(_ id: Int64, _ isLive: Bool) {
        state.withLock { state in
            if isLive { state.live.insert(id) } else { state.live.remove(id) }
        }
    }
}

extension LibraryClock {
    /// Reads the clock from the database. A new database's starts now.
    static func stored(_ db: Database, now: ClockReading) throws -> LibraryClock {
        guard let row = try Row.fetchOne(db, sql: "SELECT clock, wall, monotonic, boot FROM meta") else {
            return LibraryClock(last: now)
        }
        let last = ClockReading(
            wall: try row.integer(1),
            monotonic: try row.integer(2),
            boot: try row.text(3)
        )
        return LibraryClock(time: try row.integer(0), last: last.boot.isEmpty ? now : last)
    }

    func store(_ db: Database) throws {
        try db.cachedStatement(sql: "UPDATE meta SET clock = ?, wall = ?, monotonic = ?, boot = ?")
            .execute(arguments: [time, last.wall, last.monotonic, last.boot])
    }
}
