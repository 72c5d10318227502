package import Access
import Files
import FoundationEssentials
import HeliographAPI
package import Logging
import NIOCore
import Synchronization

/// Decides who may call the relay: watches the key file, checks callers' keys, and closes connections whose key is
/// revoked.
///
/// Access control is off until there is a key file; every caller may then do everything. Only a relay on loopback may
/// start like that. Once there was a file, it stays on, even if the file is deleted.
package final class AccessControl: Sendable {
    /// The state that every check uses.
    private struct State {
        /// The keys; `nil` while access control is off.
        var ring: KeyRing?
        var failures = FailureLimit()
        var log = LogBudget()
        /// Limits the audit lines of callers without a key.
        var strangers = LogBudget()
        var refusals: [Problem.Code: UInt64] = [:]
        /// Connections with an admitted call under way, and its caller.
        var holders: [ObjectIdentifier: (channel: any Channel, caller: Caller)] = [:]
    }

    /// The key file; `nil` if access control can never be on.
    private let file: KeyFile?
    /// Whether callers on other machines must have paired.
    private let requiresPairing: Bool
    private let logger: Logger
    private let events: EventHub
    private let logins = LoginCookie()
    private let links: KeySigner
    private let state: Mutex<State>
    /// Held while the key file is checked and read, which may take a while. ``state`` is locked while this is held,
    /// never the other way round.
    private let watch: Mutex<Watch>

    /// The state of watching the key file.
    private struct Watch {
        /// The state of the key file.
        var files: WatchedFiles
        /// Limits the log lines about an unreadable key file.
        var log = LogBudget()
    }

    /// Creates the access control.
    ///
    /// - Parameters:
    ///   - path: The key file, which may be missing; `nil` for no access control.
    ///   - secret: The secret that links are signed with.
    ///   - requiresPairing: Whether callers on other machines must have paired.
    /// - Throws: ``KeyFileError`` if the file exists and cannot be read.
    package init(
        keysFile path: String?,
        linkSecret secret: SigningSecret = SigningSecret(),
        requiresPairing: Bool = false,
        events: EventHub,
        logger: Logger
    ) throws(KeyFileError) {
        file = path.map(KeyFile.init(path:))
        links = KeySigner(secret: secret)
        self.requiresPairing = requiresPairing
        self.events = events
        self.logger = logger
        watch = Mutex(Watch(files: WatchedFiles(path.map { [$0] } ?? [])))
        state = Mutex(State(ring: try file?.read()))
    }

    /// The number of keys; `nil` while access control is off.
    package var keyCount: Int? { state.withLock { $0.ring?.keys.count } }

    /// Whether calls need a key.
    var isOn: Bool { state.withLock { $0.ring != nil } }

    /// The number of calls refused since the relay started, by code.
    var refusals: [Problem.Code: UInt64] { state.withLock { $0.refusals } }

    /// Logs at the start whether calls need a key.
    func announce() {
        if let count = keyCount {
            logger.notice("access is on: \(count) keys", metadata: ["keysFile": "\(file?.path ?? "")"])
        } else if let file {
            logger.notice(
                "access is off: anyone who reaches the relay's ports on this machine may do everything, except act on screens. The first `heliograph keys make` turns it on",
                metadata: ["keysFile": "\(file.path)"]
            )
        } else {
            logger.notice(
                "access is off: anyone who reaches the relay's ports on this machine may do everything, except act on screens"
            )
        }
    }

    /// The keys; `nil` while access control is off.
    var ring: KeyRing? {
        refresh()
        return state.withLock { $0.ring }
    }

    /// Changes the key file, and applies the change. It may take a while.
    func change<Result>(_ body: (inout KeyRing) throws(KeyFileError) -> Result) throws(KeyFileError) -> Result {
        guard let file else { throw .noFile }
        let result = try file.change(body)
        refresh()
        return result
    }

    /// Reads the key file if it has changed. Without a change it costs one stat(2). Not for the media loop.
    ///
    /// It runs before each check, so that a change applies to the next call. It also runs periodically, for connections
    /// that stay open.
    func refresh() {
        guard let file else { return }
        let revoked = watch.withLock { watch -> [any Channel]? in
            guard watch.files.look() else { return nil }
            let read = Result { () throws(KeyFileError) in try file.read() }
            if case .failure(.unreadable) = read { watch.files.readAgain() }
            return state.withLock { take(read, &$0, &watch.log, file) }
        }
        guard let revoked else { return }
        for channel in revoked { channel.close(promise: nil) }
        events.publish(.keysChanged)
    }

    /// Applies the contents of the key file.
    ///
    /// - Returns: The connections whose calls would no longer be admitted.
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
            let consequence = state.ring == nil ? "no caller gets in until it is mended" : "the former keys stay valid"
            state.ring = state.ring ?? KeyRing()
            log.log(.error, to: logger, "\(error); \(consequence)")
        }
        let good = Set(state.ring?.keys ?? [])
        return Self.release(&state) { caller in caller.key.map { !good.contains($0) } ?? true }
    }

    /// Ends the effect of ``hold(_:by:)`` for some callers, and returns their connections.
    private static func release(_ state: inout State, where isDue: (Caller) -> Bool) -> [any Channel] {
        let due = state.holders.filter { isDue($0.value.caller) }
        for id in due.keys { state.holders[id] = nil }
        return due.values.map(\.channel)
    }

    /// Closes the connections of signed links that have ended, and of keys that have expired.
    func closeEnded() {
        let now = Date()
        let seconds = Int(now.timeIntervalSince1970)
        let ended = state.withLock {
            Self.release(&$0) { caller in
                caller.key?.isExpired(at: now) ?? false || caller.link.map { $0.end <= seconds } ?? false
            }
        }
        for channel in ended { channel.close(promise: nil) }
    }

    /// Returns the caller that shows `credential`, or `nil` if it is not valid. It does not count failures;
    /// ``admit(_:to:from:)`` does.
    ///
    /// The certificate of a client that has paired counts if there is no credential or a cookie that is no longer good.
    /// If clients must pair, it also counts beside a key, which then does not.
    ///
    /// - Parameters:
    ///   - peer: Where the caller is, and its certificate.
    ///   - isRefreshed: Whether ``refresh()`` was called right before.
    func caller(showing credential: Credential, from peer: Peer, isRefreshed: Bool = false) -> Caller? {
        if !isRefreshed { refresh() }
        let mustPair = mustPair(peer)
        return state.withLock { state in
            guard let ring = state.ring else {
                // Without keys the rules for browsers protect the relay, which do not hold for links.
                if case .link = credential { return nil }
                return mustPair ? nil : .local
            }
            if !mustPair, let caller = caller(showing: credential, in: ring) { return caller.unlessExpired(at: Date()) }
            guard considersCertificate(of: peer, beside: credential) else { return nil }
            let entry = peer.certificate.flatMap(ring.entry(of:))
            return entry.flatMap { Caller(key: $0).unlessExpired(at: Date()) }
        }
    }

    /// Whether the certificate of a caller may count, which shows this credential.
    func considersCertificate(of peer: Peer, beside credential: Credential) -> Bool {
        switch credential {
        case .nothing, .login: true
        case .key: mustPair(peer)
        case .malformed, .link: false
        }
    }

    /// Whether a caller must show the certificate with which it has paired.
    private func mustPair(_ peer: Peer) -> Bool { requiresPairing && !peer.isLocal }

    private func caller(showing credential: Credential, in ring: KeyRing) -> Caller? {
        switch credential {
        case .nothing, .malformed: return nil
        case .key(let key): return ring.entry(of: key).map { Caller(key: $0) }
        case .login(let value): return logins.key(of: value, in: ring, now: Self.now).map { Caller(key: $0) }
        case .link(let text):
            guard let (fields, key) = links.fields(of: text, in: ring), let link = SignedLink(fields),
                link.end > Self.now
            else { return nil }
            return Caller(key: key, link: link)
        }
    }

    /// Returns the text of a link that a caller makes; `nil` if the caller has no key, because none is needed.
    func sign(_ link: SignedLink, by caller: Caller) -> String? {
        caller.key.map { links.signed(link.fields, by: $0) }
    }

    /// Returns the caller of a call, if it is allowed.
    ///
    /// - Parameter isRefreshed: Whether ``refresh()`` was called right before.
    func admit(
        _ credential: Credential,
        to access: RouteAccess,
        from peer: Peer,
        isRefreshed: Bool = false
    ) throws(Problem) -> Caller {
        let caller = caller(showing: credential, from: peer, isRefreshed: isRefreshed)
        guard let need = access.need else { return caller ?? .stranger }
        guard let caller else { throw refusal(of: credential, from: peer) }
        switch need {
        case .role(let role):
            guard let has = caller.role, has >= role else { throw counted(.forbiddenRole(caller.role, needs: role)) }
        case .right(let right): try require(right, of: caller)
        }
        return caller
    }

    /// Returns why a caller is none, and counts it.
    private func refusal(of credential: Credential, from peer: Peer) -> Problem {
        if mustPair(peer) { return counted(.pairingRequired) }
        switch credential {
        case .nothing where peer.certificate != nil: return counted(.notPaired)
        // A cookie from a previous run of the relay is not an attack.
        case .nothing, .login: return counted(.missingKey)
        // Neither is a key that was good.
        case .key(let key) where isExpired(key): return counted(.expiredKey)
        case .key, .malformed: return wrongKey(from: peer.address)
        // Nobody can guess a signature.
        case .link: return counted(.badLink)
        }
    }

    private func isExpired(_ key: APIKey) -> Bool {
        state.withLock { $0.ring?.entry(of: key)?.isExpired(at: Date()) ?? false }
    }

    /// Returns the cookie for a web page whose user shows `text` as the key, and the caller. There is no cookie while
    /// access control is off.
    func logIn(_ text: String, from peer: Peer) throws(Problem) -> (caller: Caller, cookie: String?) {
        let credential = APIKey(text).map(Credential.key) ?? .malformed
        // Without its certificate: the cookie is for the key.
        let peer = Peer(address: peer.address)
        guard let caller = caller(showing: credential, from: peer) else { throw refusal(of: credential, from: peer) }
        return (caller, caller.key.map { logins.value(for: $0, now: Self.now) })
    }

    /// Whether a key counts now.
    func isGood(_ key: KeyRing.Entry) -> Bool {
        refresh()
        return state.withLock { $0.ring?.keys.contains(key) ?? false } && !key.isExpired(at: Date())
    }

    /// Closes `channel` when the caller's key is revoked or its link ends, until ``release(_:)``. One without a key is
    /// closed when the first key is made.
    func hold(_ channel: any Channel, by caller: Caller) {
        let isGood = state.withLock { state in
            state.holders[ObjectIdentifier(channel)] = (channel, caller)
            guard let ring = state.ring else { return true }
            return caller.key.map(ring.keys.contains) ?? false
        }
        // The keys have changed since the caller was admitted.
        if !isGood { channel.close(promise: nil) }
    }

    /// Ends the effect of ``hold(_:by:)``.
    func release(_ channel: any Channel) { state.withLock { $0.holders[ObjectIdentifier(channel)] = nil } }

    /// Ends the effect of ``hold(_:by:)`` when the connection closes.
    func releaseAtEnd(of channel: any Channel) {
        channel.closeFuture.whenComplete { [weak self] _ in self?.release(channel) }
    }

    /// Returns whether the log has room for a call without a key; see ``LogBudget/take(now:)``.
    func takeStrangersLine() -> Int? { state.withLock { $0.strangers.take(now: .now()) } }

    /// Counts a wrong key and returns the problem for its caller.
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

    /// Refuses a caller that lacks a right in the library.
    func require(_ right: LibraryRight, of caller: Caller) throws(Problem) {
        guard !caller.libraryRights.contains(right) else { return }
        throw counted(.forbiddenLibrary(right, has: caller.libraryRights))
    }

    /// Refuses a caller whose key is not for the device.
    func requireReach(_ device: String, by caller: Caller) throws(Problem) {
        guard !caller.reaches(device) else { return }
        throw counted(.forbiddenDevice(device, of: caller.devices ?? []))
    }

    /// Counts a refusal and returns its problem.
    func counted(_ problem: Problem) -> Problem {
        state.withLock { $0.refusals[problem.code, default: 0] += 1 }
        return problem
    }

    private static var now: Int { Int(Date().timeIntervalSince1970) }
}

extension RouteAccess {
    /// What a caller must have.
    fileprivate enum Need {
        /// This role, or one that includes it.
        case role(Role)
        case right(LibraryRight)
    }

    /// What is required; `nil` if nothing is.
    fileprivate var need: Need? {
        switch self {
        case .anyone: nil
        case .viewer: .role(.viewer)
        case .controller: .role(.controller)
        case .operator: .role(.operator)
        case .look: .right(.look)
        case .record: .right(.record)
        case .delete: .right(.delete)
        }
    }
}
