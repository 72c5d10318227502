import GRDB
import SystemPackage

/// The database of a library. Each call blocks until SQLite is done.
struct Catalogue: Sendable {
    static let fileName = "catalogue.sqlite"

    let path: String
    private let pool: DatabasePool

    /// Opens the database, creates it if it is missing, and brings its schema up to date.
    ///
    /// - Parameter leastFree: The bytes that must be free on its disk.
    init(path: String, leastFree: UInt64) throws(LibraryError) {
        self.path = path
        let free = try Library.freeBytes(of: FilePath(path).removingLastComponent().string)
        guard free >= leastFree else {
            throw .storage(reason: "its disk has \(free >> 10) KiB free, and it needs \(leastFree >> 10) KiB")
        }
        do {
            // SQLite would create it readable for others, and gives its other files the permissions of this one.
            try FileDescriptor.open(
                FilePath(path),
                .readWrite,
                options: [.create, .noFollow, .closeOnExec],
                permissions: .ownerReadWrite
            ).close()
        } catch {
            throw .folder(path, reason: "\(error)")
        }
        do {
            pool = try DatabasePool(path: path, configuration: Self.configuration)
            let found = try pool.read { try Int.fetchOne($0, sql: "PRAGMA user_version") } ?? 0
            guard found <= Schema.version else { throw LibraryError.newer(found: found, known: Schema.version) }
            try Schema.migrator().migrate(pool)
        } catch {
            throw Self.fault(error, path)
        }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "library"
        configuration.maximumReaderCount = 4
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { db in
            // A power cut may lose the last transactions, but damages nothing: the next start looks at the files.
            try db.execute(sql: "PRAGMA synchronous = NORMAL")
            try db.execute(sql: "PRAGMA cache_size = -16384")
            try db.execute(sql: "PRAGMA journal_size_limit = 16777216")
        }
        return configuration
    }

    func read<Value>(_ body: (Database) throws -> Value) throws(LibraryError) -> Value {
        do { return try pool.read(body) } catch { throw Self.fault(error, path) }
    }

    /// Runs `body` in a transaction, which has no effect if it throws.
    func write<Value>(_ body: (Database) throws -> Value) throws(LibraryError) -> Value {
        do { return try pool.write(body) } catch { throw Self.fault(error, path) }
    }

    /// Calls `tell` after each transaction that is about items, on the thread that writes.
    func observe(_ tell: @escaping @Sendable (ItemCommit) -> Void) {
        pool.add(transactionObserver: CommitObserver(tell), extent: .databaseLifetime)
    }

    /// The size of the database without its log.
    func bytes() throws(LibraryError) -> UInt64 {
        try read { db in
            let pages = try Int64.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            let size = try Int64.fetchOne(db, sql: "PRAGMA page_size") ?? 0
            return UInt64(clamping: pages &* size)
        }
    }

    /// Copies the database into an empty file.
    func vacuum(into file: String) throws(LibraryError) {
        do {
            try pool.unsafeRead { try $0.execute(sql: "VACUUM INTO ?", arguments: [file]) }
        } catch {
            throw Self.fault(error, path)
        }
    }

    /// Closes the database, whose file is then complete.
    func close() throws(LibraryError) {
        do {
            // The pool closes a connection last that may only read, so SQLite would keep the log beside the file.
            try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            try pool.close()
        } catch {
            throw Self.fault(error, path)
        }
    }

    /// Returns what the module reports for any error of a database.
    static func fault(_ error: any Error, _ path: String) -> LibraryError {
        if let known = error as? LibraryError { return known }
        guard let error = error as? DatabaseError else { return .storage(reason: "\(error)") }
        let reason = error.message ?? "SQLite error \(error.resultCode.rawValue)"
        switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT, .SQLITE_MISMATCH, .SQLITE_ERROR:
            return .damaged(path, reason: reason)
        default: return .storage(reason: reason)
        }
    }
}
