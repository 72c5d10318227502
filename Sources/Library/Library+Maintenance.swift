import Files
import GRDB
import Glibc
import SystemPackage

extension Library {
    /// Copies the catalogue into a new file, also while a relay uses it. The copy contains no recordings.
    ///
    /// - Parameters:
    ///   - folder: The library's folder.
    ///   - file: The copy's path. An existing file is replaced once the copy is complete.
    /// - Throws: ``LibraryError/folder(_:reason:)``, ``LibraryError/storage(reason:)``.
    package static func backup(folder: String, to file: String) throws(LibraryError) {
        let catalogue = folder + "/" + Catalogue.fileName
        guard access(catalogue, R_OK) == 0 else {
            throw .folder(catalogue, reason: "\(Errno(rawValue: errno))")
        }
        let draft = file + ".new"
        try createDatabaseFile(draft)
        do throws(LibraryError) {
            try copy(catalogue, to: draft)
            try move(draft, to: file)
        } catch {
            removeDatabase(draft)
            throw error
        }
    }

    /// Replaces the catalogue by a backup. The relay must not run. Afterwards ``reconcile(_:)`` finds what has changed
    /// since the backup.
    ///
    /// The former catalogue stays as `catalogue.sqlite.old`.
    ///
    /// - Parameters:
    ///   - folder: The library's folder.
    ///   - file: The backup.
    /// - Throws: ``LibraryError/damaged(_:reason:)`` or ``LibraryError/newer(found:known:)`` if the backup cannot be
    ///   used. The catalogue then stays.
    package static func restore(folder: String, from file: String) throws(LibraryError) {
        let lock = try prepare(folder)
        defer { withExtendedLifetime(lock) {} }
        try check(file)
        try replace(folder) { (draft) throws(LibraryError) in
            try copy(file, to: draft) {
                // Clients that follow changes must list the items again.
                try $0.execute(sql: "UPDATE meta SET epoch = lower(hex(randomblob(8)))")
            }
        }
    }

    /// Copies a database into an empty file, and changes the copy.
    private static func copy(
        _ source: String,
        to file: String,
        change: (Database) throws -> Void = { _ in }
    ) throws(LibraryError) {
        do {
            var configuration = Configuration()
            configuration.readonly = true
            let source = try DatabaseQueue(path: source, configuration: configuration)
            let copy = try DatabaseQueue(path: file)
            try source.backup(to: copy)
            try copy.write(change)
            try copy.close()
        } catch {
            throw Catalogue.fault(error, source)
        }
    }

    /// Makes a new catalogue from the files alone. The relay must not run.
    ///
    /// Pins and edited labels are lost, and ages begin now. The former catalogue stays as `catalogue.sqlite.old`.
    ///
    /// - Parameter inspect: As in ``reconcile(_:)``.
    /// - Returns: What it found.
    package static func rebuild(
        folder: String,
        clock: @escaping @Sendable () -> ClockReading = ClockReading.system,
        inspect: (String) throws -> ItemFacts
    ) throws(LibraryError) -> Reconciliation {
        let lock = try prepare(folder)
        var report = Reconciliation()
        try replace(folder) { (draft) throws(LibraryError) in
            let library = try Library(folder: folder, lock: lock, database: draft, clock: clock)
            report = try library.reconcile(inspect)
            try library.close()
        }
        return report
    }

    /// Checks that a file is a sound catalogue of a known version.
    private static func check(_ file: String) throws(LibraryError) {
        do {
            var configuration = Configuration()
            configuration.readonly = true
            let database = try DatabaseQueue(path: file, configuration: configuration)
            try database.read { db in
                let found = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
                guard found <= Schema.version else { throw LibraryError.newer(found: found, known: Schema.version) }
                guard found > 0, try db.tableExists("item"), try db.tableExists("meta") else {
                    throw LibraryError.damaged(file, reason: "it is not a catalogue")
                }
                let faults = try String.fetchAll(db, sql: "PRAGMA integrity_check(1)")
                guard faults == ["ok"] else { throw LibraryError.damaged(file, reason: faults.first ?? "no answer") }
            }
        } catch {
            throw Catalogue.fault(error, file)
        }
    }

    /// Replaces the catalogue by a database that `make` writes.
    private static func replace(
        _ folder: String,
        make: (_ draft: String) throws(LibraryError) -> Void
    ) throws(LibraryError) {
        let path = folder + "/" + Catalogue.fileName
        let draft = path + ".new"
        removeDatabase(draft)
        try createDatabaseFile(draft)
        do throws(LibraryError) {
            try make(draft)
        } catch {
            removeDatabase(draft)
            throw error
        }
        removeDatabase(path + ".old")
        // SQLite would apply the former database's log to the new one. So the log goes first.
        for ending in ["-wal", "-shm"] { rename(path + ending, path + ".old" + ending) }
        link(path, path + ".old")
        try move(draft, to: path)
    }

    /// Moves a closed database, once it is on the disk.
    private static func move(_ draft: String, to path: String) throws(LibraryError) {
        do {
            let file = try FileDescriptor.open(FilePath(draft), .readWrite, options: .closeOnExec)
            try file.closeAfter { guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) } }
            guard rename(draft, path) == 0 else { throw Errno(rawValue: errno) }
            for ending in ["-wal", "-shm", "-journal"] { unlink(draft + ending) }
            let around = FilePath(path).removingLastComponent()
            let folder = try FileDescriptor.open(around.isEmpty ? "." : around, .readOnly, options: .closeOnExec)
            try folder.closeAfter {
                guard fsync(folder.rawValue) == 0 || errno == EINVAL else { throw Errno(rawValue: errno) }
            }
        } catch {
            throw .folder(path, reason: "\(error)")
        }
    }

    /// Creates an empty file, readable for its owner only.
    private static func createDatabaseFile(_ path: String) throws(LibraryError) {
        removeDatabase(path)
        do {
            try FileDescriptor.open(
                FilePath(path),
                .writeOnly,
                options: [.create, .exclusiveCreate, .closeOnExec],
                permissions: .ownerReadWrite
            ).close()
        } catch {
            throw .folder(path, reason: "\(error)")
        }
    }

    private static func removeDatabase(_ path: String) {
        for ending in ["", "-wal", "-shm", "-journal"] { unlink(path + ending) }
    }
}
