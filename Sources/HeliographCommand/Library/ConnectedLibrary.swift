import Access
import CommandSupport
import Files
import FoundationEssentials
import Glibc
import HeliographClient
import Library
import NIOCore
import Program
import SystemPackage

/// The library of a relay that this user has connected, with a copy of its catalogue on this machine.
struct ConnectedLibrary {
    /// What is in the file about the relay.
    private struct Stored: Codable {
        var relay: String
        var fingerprint: String?
        var key: String?
    }

    /// The most bytes of that file.
    private static let longest = 16 << 10

    let target: RelayTarget
    private let folder: FilePath

    private init(_ target: RelayTarget, _ folder: FilePath) { (self.target, self.folder) = (target, folder) }

    private static func folder() throws(CommandError) -> FilePath {
        guard let state = StateFolder.path(in: ProcessInfo.processInfo.environment) else {
            throw .failed("there is no home directory: set XDG_STATE_HOME")
        }
        return FilePath(state).appending("connected")
    }

    private static func relayFile(_ folder: FilePath) -> FilePath { folder.appending("relay.json") }

    private var path: String { folder.appending("catalogue.sqlite").string }

    /// Returns the connected library; `nil` if there is none.
    ///
    /// - Parameter key: The key to show instead of the kept one.
    static func load(showing key: APIKey? = nil) throws(CommandError) -> ConnectedLibrary? {
        let folder = try folder()
        let file = relayFile(folder)
        let target: RelayTarget
        do {
            let bytes = try BoundedFile.read(file, atMost: longest, isSecret: true)
            let stored = try JSONDecoder().decode(Stored.self, from: Data(bytes))
            let key = key ?? stored.key.flatMap { APIKey($0) }
            target = try RelayTarget(url: stored.relay, fingerprint: stored.fingerprint, key: key)
        } catch Errno.noSuchFileOrDirectory {
            return nil
        } catch {
            throw .failed("cannot read \(file): \(error). Run `heliograph library connect` again.")
        }
        do {
            return ConnectedLibrary(try RelayEnvironment.known(target), folder)
        } catch {
            throw CommandError(error)
        }
    }

    /// Connects a relay's library: keeps the relay's address and key in a file for this user alone, and copies the
    /// catalogue. A former connection stays if the relay refuses.
    ///
    /// - Parameter fingerprint: That of the only certificate to trust; `nil` if `heliograph trust` or the authorities
    ///   decide, each time.
    static func connect(_ client: RelayClient, fingerprint: String?) async throws -> ConnectedLibrary {
        let target = client.target
        let library = ConnectedLibrary(target, try folder())
        try await locked(library.folder) {
            let news = try await library.download(client, since: nil)
            let file = relayFile(library.folder)
            let stored = Stored(relay: target.url, fingerprint: fingerprint, key: target.key?.text)
            do {
                try ReplacedFile.write([UInt8](JSONEncoder().encode(stored)), to: file)
            } catch {
                throw CommandError.failed("cannot write \(file): \(error)")
            }
            if let news { try library.install(news, since: nil) }
        }
        return library
    }

    /// Forgets the connection, its key and its copy.
    ///
    /// - Returns: Whether there was one.
    static func disconnect() async throws -> Bool {
        let folder = try folder()
        let file = relayFile(folder)
        guard access(file.string, F_OK) == 0 else { return false }
        return try await locked(folder) {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.string)
            for name in names where name.hasPrefix("catalogue.sqlite") { unlink(folder.appending(name).string) }
            guard unlink(file.string) == 0 || errno == ENOENT else {
                throw CommandError.failed("cannot remove \(file): \(Errno(rawValue: errno))")
            }
            return true
        }
    }

    /// Opens the copy.
    func copy() throws(CommandError) -> CatalogueCopy {
        let path = path
        return try CommandError.reporting { () throws(LibraryError) in try CatalogueCopy(path) }
    }

    /// Brings the copy up to date.
    ///
    /// - Returns: Whether anything had changed.
    /// - Throws: ``CommandError``
    @discardableResult
    func refresh(_ client: RelayClient) async throws -> Bool {
        try await Self.locked(folder) {
            let mark = try? CatalogueCopy(path).mark()
            guard let news = try await download(client, since: mark) else {
                // It is up to date as of now.
                utimensat(AT_FDCWD, path, nil, 0)
                return false
            }
            try install(news, since: mark)
            return true
        }
    }

    /// When the copy was last up to date; `nil` if there is none.
    var copied: Date? {
        guard let status = try? FilePath(path).stat() else { return nil }
        return Date(timeIntervalSince1970: Double(status.st_mtim.tv_sec))
    }

    // MARK: Updates

    /// Runs `body` while no other command changes the folder.
    private static func locked<Value>(_ folder: FilePath, _ body: () async throws -> Value) async throws -> Value {
        let lock: SystemPackage.FileDescriptor
        do {
            lock = try ReplacedFile.lockFolder(of: relayFile(folder))
        } catch {
            throw CommandError.failed("cannot use \(folder): \(error)")
        }
        defer { try? lock.close() }
        return try await body()
    }

    /// Returns the file with what the relay sends; `nil` if the copy has everything.
    private func download(_ client: RelayClient, since mark: String?) async throws -> FilePath? {
        let draft = FilePath(path + ".new")
        var isNew = false
        // A command that was killed may have left it.
        unlink(draft.string)
        defer { if !isNew { unlink(draft.string) } }
        do {
            let file = try SystemPackage.FileDescriptor.open(
                draft,
                .writeOnly,
                options: [.create, .exclusiveCreate],
                permissions: .ownerReadWrite
            )
            defer { try? file.close() }
            isNew = try await client.catalogue(since: mark) { _ = try file.writeAll($0.readableBytesView) }
        } catch let fault as Errno {
            throw CommandError.failed("cannot write \(draft): \(fault)")
        }
        return isNew ? draft : nil
    }

    private func install(_ news: FilePath, since mark: String?) throws(CommandError) {
        do {
            try CatalogueCopy.update(path, with: news.string, since: mark)
        } catch {
            throw .failed("the relay's catalogue cannot be used: \(error)")
        }
    }
}
