import Access
import FoundationEssentials
import HeliographAPI
import Hummingbird
import Library

/// Signed links: making them, and keeping their callers to what they are for.
extension API {
    func addLinkRoutes(to routes: inout RouteTable) {
        routes.add(Routes.linkSession) { link, _, context in
            let id = try await session(context, isUse: false).id
            return try await report(link, for: .session(id), at: "v1/sessions/\(id)/", context.caller)
        }
        routes.add(Routes.linkDevice) { link, _, context in
            let name = try await broadcast(context.parameters.get("device")).device.name
            return try await report(link, for: .device(name), at: "v1/devices/\(name)/", context.caller)
        }
        routes.add(Routes.linkItem) { link, _, context in
            let item = try await item(context)
            let scope = SignedLink.Scope.recording(item.facts.recording)
            return try await report(link, for: scope, at: "v1/library/\(item.id)/", context.caller)
        }
    }

    private func report(
        _ asked: SignedLinkRequest,
        for scope: SignedLink.Scope,
        at path: String,
        _ caller: Caller
    ) async throws(Problem) -> SignedLinkReport {
        let end = Date(timeIntervalSinceNow: TimeInterval(asked.ttl))
        let link = SignedLink(scope, end: Int(end.timeIntervalSince1970))
        guard let signed = access.sign(link, by: caller) else {
            throw Problem(.noKeys, "the relay has no keys, so calls need no link: use the address itself")
        }
        // The next run needs the secret.
        await switchboard.keepState()
        var report = SignedLinkReport()
        report.base = "\(SignedPath.root)\(signed)/\(path)"
        report.expires = end.formatted(.iso8601)
        return report
    }

    /// Refuses a call that the caller's link is not for. Only what the path names counts.
    func requireLink(_ context: RelayRequestContext) async throws {
        guard let link = context.caller.link else { return }
        guard try await isPart(context, of: link.scope) else { throw access.counted(.forbiddenLink) }
    }

    private func isPart(_ context: RelayRequestContext, of scope: SignedLink.Scope) async throws -> Bool {
        switch scope {
        case .session(let id): return context.parameters.get("id") == "\(id)"
        case .device(let name):
            guard let id = context.parameters.get("id") else { return context.parameters.get("device") == name }
            return try await session(id: id).device.name == name
        case .recording(let recording):
            guard context.parameters.get("item") != nil else { return false }
            return try await item(context).facts.recording == recording
        }
    }
}
