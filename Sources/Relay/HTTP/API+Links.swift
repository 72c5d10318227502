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
            let page = "#/session/\(id)"
            return try await report(link, for: .session(id), at: "v1/sessions/\(id)/", page: page, context.caller)
        }
        routes.add(Routes.linkDevice) { link, _, context in
            let name = try await broadcast(context.parameters.get("device")).device.name
            let page = "#/devices/\(name)/\(SharedSession.name)"
            return try await report(link, for: .device(name), at: "v1/devices/\(name)/", page: page, context.caller)
        }
        routes.add(Routes.linkItem) { link, _, context in
            let item = try await item(context)
            let scope = SignedLink.Scope.recording(item.facts.recording)
            return try await report(link, for: scope, at: "v1/library/\(item.id)/", page: nil, context.caller)
        }
    }

    private func report(
        _ asked: SignedLinkRequest,
        for scope: SignedLink.Scope,
        at path: String,
        page: String?,
        _ caller: Caller
    ) async throws(Problem) -> SignedLinkReport {
        if asked.act {
            guard page != nil else { throw Problem(.outOfRange, "act is for sessions and devices only", field: "act") }
            guard let role = caller.role, role >= .controller else {
                throw access.counted(.forbiddenRole(caller.role, needs: .controller))
            }
        }
        let end = Date(timeIntervalSinceNow: TimeInterval(asked.ttl))
        let link = SignedLink(scope, end: Int(end.timeIntervalSince1970), acts: asked.act)
        guard let signed = access.sign(link, by: caller) else {
            throw Problem(.noKeys, "the relay has no keys, so calls need no link: use the address itself")
        }
        // The next run needs the secret.
        await switchboard.keepState()
        var report = SignedLinkReport()
        report.base = "\(SignedPath.root)\(signed)/\(path)"
        report.page = page.map { "\(SignedPath.root)\(signed)/?view=player\($0)" }
        report.expires = end.formatted(.iso8601)
        return report
    }

    /// Refuses a call that the caller's link is not for. Only what the path names counts.
    func requireLink(for access: RouteAccess, _ context: RelayRequestContext) async throws {
        guard let link = context.caller.link, access != .anyone else { return }
        guard try await isPart(context, of: link.scope) else { throw self.access.counted(.forbiddenLink) }
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
