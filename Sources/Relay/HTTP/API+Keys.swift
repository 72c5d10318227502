import Access
import FoundationEssentials
import HeliographAPI
import Hummingbird
import NIOCore
import NIOPosix

/// The keys, which are in the key file.
extension API {
    func addKeyRoutes(to routes: inout RouteTable) {
        routes.add(Routes.listKeys) { _, _, _ in
            let ring = access.ring
            var report = KeyList()
            report.access = ring != nil
            report.keys = (ring?.keys ?? []).map { KeyReport($0) }
            return report
        }
        routes.add(Routes.makeKey) { asked, request, context in
            context.audit.note("name", asked.name)
            let terms = try await grant(asked, by: request, context)
            let (entry, key) = try await changeKeys(context) { ring throws(KeyFileError) in
                let key = try ring.make(asked.name, terms, at: Date())
                return (ring.entry(of: key), key)
            }
            return MadeKey(entry.map { KeyReport($0) } ?? KeyReport(), key)
        }
        routes.add(Routes.revokeKey) { _, _, context in
            let name = context.parameters.get("key") ?? ""
            context.audit.note("name", name)
            return KeyReport(try await changeKeys(context) { ring throws(KeyFileError) in try ring.revoke(name) })
        }
    }

    /// Returns what a caller lets the holder of a key do.
    ///
    /// - Throws: ``Problem`` if the caller has not as much itself.
    func grant(
        _ asked: some KeyTermsRequest,
        by request: Request,
        _ context: RelayRequestContext
    ) async throws -> KeyRing.Terms {
        // The first key may allow more than callers without keys may do.
        if context.caller.key == nil { try await LocalUser.require(request, context) }
        let role = Role(rawValue: asked.role) ?? .viewer
        let rights = asked.library.map { Set($0.compactMap(LibraryRight.init(rawValue:))) }
        for right in (rights ?? role.libraryRights).inOrder { try access.require(right, of: context.caller) }
        // Nothing that a key makes outlasts it.
        let ends = [KeyRing.Terms.end(afterDays: asked.days, from: Date()), context.caller.key?.expires]
        return KeyRing.Terms(
            role,
            devices: asked.devices.map { Set($0) },
            library: rights,
            expires: ends.compactMap(\.self).min()
        )
    }

    /// Changes the keys. The call is answered even if its own key is revoked, or none was needed before.
    func changeKeys<Result: Sendable>(
        _ context: RelayRequestContext,
        _ body: @escaping @Sendable (inout KeyRing) throws(KeyFileError) -> Result
    ) async throws -> Result {
        access.release(context.channel)
        do {
            return try await NIOThreadPool.singleton.runIfActive { try access.change(body) }
        } catch let error as KeyFileError {
            throw Problem(error)
        }
    }
}

extension Problem {
    init(_ error: KeyFileError) {
        let code: Code =
            switch error {
            case .nameTaken: .keyNameTaken
            case .unknownName: .unknownKey
            case .tooMany: .tooManyKeys
            // The schema accepts no others.
            case .badName, .badDevice, .badDeviceCount: .unknownValue
            case .unreadable, .open, .foreign, .damaged, .otherVersion, .unwritable, .noFile: .keysUnavailable
            }
        self.init(code, "\(error)")
    }
}

extension KeyReport {
    fileprivate init(_ entry: KeyRing.Entry) {
        self.init()
        (name, role, devices) = (entry.name, entry.role.rawValue, entry.devices)
        library = entry.libraryRights.inOrder.map(\.rawValue)
        created = entry.created.formatted(.iso8601)
        expires = entry.expires?.formatted(.iso8601)
        if case .certificate(let certificate) = entry.proof { fingerprint = certificate.text }
    }
}

extension MadeKey {
    fileprivate init(_ report: KeyReport, _ key: APIKey) {
        self.init()
        (name, role, devices) = (report.name, report.role, report.devices)
        (library, created, expires, self.key) = (report.library, report.created, report.expires, key.text)
    }
}
