package import Access
import Files
import FoundationEssentials
import HeliographAPI
package import Logging
import NIOCore
import Synchronization

/// Who may call the relay: looks after the key file, judges what callers show, and ends the connections of keys that are revoked.
///
/// Access is off as long as there has been no key file: then whoever reaches the relay may all. Only a relay on loopback starts like that. Once there was
/// a file it stays on, whatever becomes of the file.
package final class AccessControl: Sendable {
    private struct State {
        /// Nil while access is off.
        var ring: KeyRing?
        var failures = FailureLimit()
        var log = LogBudget()
        /// For the audit lines of callers without a key.
        var strangers = LogBudget()
        var refusals: [Problem.Code: UInt64] = [:]
        /// Connections with a call under way that was let in, and its key; nil for those from before there were keys.
        var holders: [ObjectIdentifier: (channel: any Channel, key: KeyRing.Entry?)] = [:]
    }

    /// Nil where access is off for good.
    private let file: KeyFile?
    private let logger: Logger
    private let logins = LoginCookie()
    private let state: Mutex<State>
    /// Held while the key file is looked at and read, which may take its time. ``state`` is taken under it, never the other way round.
    private let watch: Mutex<Watch>

    private struct Watch {
        /// The key file's.
        var files: WatchedFiles
        /// For what is said of a key file that cannot be read.
        var log = LogBudget()
    }

    /// - Parameter path: The key file, which need not be there; nil for no access control.
    /// - Throws: ``KeyFileError`` where it is there and cannot be read.
    package init(keysFile path: String?, logger: Logger) throws(KeyFileError) {
        file = path.map(KeyFile.init(path:))
        self.logger = logger
        watch = Mutex(Watch(files: WatchedFiles(path.map { [$0] } ?? [])))
        state = Mutex(State(ring: try file?.read()))
    }

    /// The number of keys; nil while access is off.
    package var keyCount: Int? { state.withLock { $0.ring?.keys.count } }

    /// Whether calls need a key.
    var isOn: Bool { state.withLock { $0.ring != nil } }

    /// Calls refused since the relay started, by code.
    var refusals: [Problem.Code: UInt64] { state.withLock { $0.refusals } }

    /// Says at the start whether calls need a key.
    func announce() {
        if let count = keyCount {
            logger.notice("access is on: \(count) keys", metadata: ["keysFile": "\(file?.path ?? "")"])
        } else if let file {
            logger.notice(
                "access is off: whoever reaches the relay's ports on this machine may do everything. It goes on with the first `heliograph keys make`",
                metadata: ["keysFile": "\(file.path)"]
            )
        } else {
            logger.notice("access is off: whoever reaches the relay's ports on this machine may do everything")
        }
    }

    /// Takes notice of a key file that has changed. Costs one stat(2) where it has not; not for the media loop.
    ///
    /// Done before every check, so that a change holds for the next call; and from time to time, for connections that go on.
    func refresh() {
        guard let file else { return }
        let revoked = watch.withLock { watch -> [any Channel] in
            guard watch.files.look() else { return [] }
            let read = Result { () throws(KeyFileError) in try file.read() }
            if case .failure(.unreadable) = read { watch.files.readAgain() }
            return state.withLock { take(read, &$0, &watch.log, file) }
        }
        for channel in revoked { channel.close(promise: nil) }
    }

    /// Takes over what the key file says.
    ///
    /// - Returns: The connections whose calls would not be let in any more.
    private func take(
        _ read: Result<KeyRing?, KeyFileError>,
        _ state: inout State,
        _ log: inout LogBudget,
        _ file: KeyFile
    ) -> [any Channel] {
        switch read {
        case .success(let ring?):
            state.ring = ring
            logger.notice("access is on: \(ring.keys.count) keys", metadata: ["keysFile": "\(file.path)"])
        case .success(nil):
            state.ring = KeyRing()
            logger.error(
                "the key file \(file.path) is gone: no key is good any more. Access stays on until the relay's end"
            )
        case .failure(let error):
            let consequence = state.ring == nil ? "nobody is let in" : "the keys of before count"
            state.ring = state.ring ?? KeyRing()
            log.log(.error, to: logger, "\(error); \(consequence)")
        }
        let good = Set(state.ring?.keys ?? [])
        let revoked = state.holders.filter { holder in holder.value.key.map { !good.contains($0) } ?? true }
        for id in revoked.keys { state.holders[id] = nil }
        return revoked.values.map(\.channel)
    }

    /// Who shows `credential`, as far as it is good; nil where it is not. For who asks and leaves the refusal to ``admit(_:to:from:)``.
    ///
    /// - Parameter isRefreshed: Whether ``refresh()`` was called right before.
    func caller(showing credential: Credential, isRefreshed: Bool = false) -> Caller? {
        if !isRefreshed { refresh() }
        return state.withLock { state in
            guard let ring = state.ring else { return .local }
            return key(of: credential, in: ring).map(Caller.init(key:))
        }
    }

    private func key(of credential: Credential, in ring: KeyRing) -> KeyRing.Entry? {
        switch credential {
        case .nothing, .malformed: nil
        case .key(let key): ring.entry(of: key)
        case .login(let value): logins.key(of: value, in: ring, now: Self.now)
        }
    }

    /// Who makes a call, if they may.
    ///
    /// - Parameter isRefreshed: Whether ``refresh()`` was called right before.
    func admit(
        _ credential: Credential,
        to access: RouteAccess,
        from address: SocketAddress?,
        isRefreshed: Bool = false
    ) throws(Problem) -> Caller {
        let caller = caller(showing: credential, isRefreshed: isRefreshed)
        guard let role = access.role else { return caller ?? .stranger }
        guard let caller else {
            switch credential {
            // A cookie of the relay's former life is no try to break in.
            case .nothing, .login: throw counted(.missingKey)
            case .key, .malformed: throw wrongKey(from: address)
            }
        }
        guard let has = caller.role, has >= role else { throw counted(.forbiddenRole(caller.role, needs: role)) }
        return caller
    }

    /// The cookie of a web page whose user shows `text` as the key, and who that is. No cookie while access is off.
    func logIn(_ text: String, from address: SocketAddress?) throws(Problem) -> (caller: Caller, cookie: String?) {
        let credential = APIKey(text).map(Credential.key) ?? .malformed
        guard let caller = caller(showing: credential) else { throw wrongKey(from: address) }
        return (caller, caller.key.map { logins.value(for: $0, now: Self.now) })
    }

    /// Ends `channel` when the caller's key is revoked, and that of one without a key when the first key is made, until it is released.
    func hold(_ channel: any Channel, by caller: Caller) {
        let isGood = state.withLock { state in
            state.holders[ObjectIdentifier(channel)] = (channel, caller.key)
            guard let ring = state.ring else { return true }
            return caller.key.map(ring.keys.contains) ?? false
        }
        // The keys have changed since the caller was let in.
        if !isGood { channel.close(promise: nil) }
    }

    func release(_ channel: any Channel) { state.withLock { $0.holders[ObjectIdentifier(channel)] = nil } }

    func releaseAtEnd(of channel: any Channel) {
        channel.closeFuture.whenComplete { [weak self] _ in self?.release(channel) }
    }

    /// Whether the log may tell of a call of somebody without a key; see ``LogBudget/take(now:)``.
    func takeStrangersLine() -> Int? { state.withLock { $0.strangers.take(now: .now()) } }

    private func wrongKey(from address: SocketAddress?) -> Problem {
        let wait = state.withLock { state in
            let wait = state.failures.count(PeerAddress.party(of: address), now: .now())
            if wait == nil {
                state.log.log(.warning, to: logger, "a wrong key from \(PeerAddress.text(of: address))")
            }
            return wait
        }
        return counted(wait.map(Problem.tooManyFailures) ?? .wrongKey)
    }

    private func counted(_ problem: Problem) -> Problem {
        state.withLock { $0.refusals[problem.code, default: 0] += 1 }
        return problem
    }

    private static var now: Int { Int(Date().timeIntervalSince1970) }
}

extension RouteAccess {
    /// The least role that may; nil where none is needed.
    var role: Role? {
        switch self {
        case .anyone: nil
        case .viewer: .viewer
        case .operator: .operator
        }
    }
}
