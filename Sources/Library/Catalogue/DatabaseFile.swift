import Files
import GRDB
import Glibc
import SystemPackage

/// A catalogue's file, and those that SQLite keeps beside it, while nobody has it open.
enum DatabaseFile {
    /// The endings of what SQLite keeps beside the file.
    private static let logs = ["-wal", "-shm", "-journal"]

    /// Moves a closed database, once it is on the disk.
    static func move(_ draft: String, to path: String) throws(LibraryError) {
        do {
            let file = try FileDescriptor.open(FilePath(draft), .readWrite, options: .closeOnExec)
            try file.closeAfter { guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) } }
            // SQLite would apply the log of another database.
            for ending in logs { unlink(path + ending) }
            guard rename(draft, path) == 0 else { throw Errno(rawValue: errno) }
            for ending in logs { unlink(draft + ending) }
            try ReplacedFile.sync(folderOf: FilePath(path))
        } catch {
            throw .folder(path, reason: "\(error)")
        }
    }

    /// Creates an empty file, readable for its owner only.
    static func create(_ path: String) throws(LibraryError) {
        remove(path)
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

    static func remove(_ path: String) {
        for ending in [""] + logs { unlink(path + ending) }
    }

    /// Checks that a file is a sound catalogue of a known version.
    static func check(_ file: String) throws(LibraryError) {
        do {
            var configuration = Configuration()
            configuration.readonly = true
            let database = try DatabaseQueue(path: file, configuration: configuration)
            try database.read { db in
                try Schema.requireKnown(db, file)
                guard try db.tableExists("item"), try db.tableExists("meta") else {
                    throw LibraryError.damaged(file, reason: "it is not a catalogue")
                }
                try requireSound(db, file)
            }
        } catch {
            throw Catalogue.fault(error, file)
        }
    }

    /// Checks that SQLite finds no fault. It reads all of the database.
    static func requireSound(_ db: Database, _ file: String) throws {
        let faults = try String.fetchAll(db, sql: "PRAGMA integrity_check(1)")
        guard faults == ["ok"] else { throw LibraryError.damaged(file, reason: faults.first ?? "no answer") }
    }
}
