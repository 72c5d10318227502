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
        try DatabaseFile.create(draft)
        do throws(LibraryError) {
            try copy(catalogue, to: draft)
            try DatabaseFile.move(draft, to: file)
        } catch {
            DatabaseFile.remove(draft)
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
        try DatabaseFile.check(file)
        try replace(folder) { (draft) throws(LibraryError) in
            try copy(file, to: draft) {
                // Clients that follow changes must list the items again.
                try ChangeLog.renew($0)
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

    /// Replaces the catalogue by a database that `make` writes.
    private static func replace(
        _ folder: String,
        make: (_ draft: String) throws(LibraryError) -> Void
    ) throws(LibraryError) {
        let path = folder + "/" + Catalogue.fileName
        let draft = path + ".new"
        DatabaseFile.remove(draft)
        try DatabaseFile.create(draft)
        do throws(LibraryError) {
            try make(draft)
        } catch {
            DatabaseFile.remove(draft)
            throw error
        }
        DatabaseFile.remove(path + ".old")
        // SQLite would apply the former database's log to the new one. So the log goes first.
        for ending in ["-wal", "-shm"] { rename(path + ending, path + ".old" + ending) }
        link(path, path + ".old")
        try DatabaseFile.move(draft, to: path)
    }
}
