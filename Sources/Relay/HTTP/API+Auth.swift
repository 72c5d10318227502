import Access
import FoundationEssentials
import HTTPTypes
import HeliographAPI
import Hummingbird
import Program

extension API {
    func addAuthRoutes(to routes: inout RouteTable) {
        routes.add(Routes.getCaller) { _, _, context in report(on: context.caller) }
        routes.respond(to: Routes.logIn) { login, request, context in
            guard !context.isOtherPage else {
                throw Problem(.forbiddenOrigin, "only the relay's own page logs in: show the key with each call")
            }
            let (caller, cookie) = try access.logIn(login.key, from: context.peer)
            if let key = caller.key { context.audit.note("key", key.name) }
            var answer = try Answer.json(report(on: caller))
            if let cookie {
                answer.headers[.setCookie] = LoginCookie.field(
                    cookie,
                    authority: request.head.authority,
                    isSecure: isSecure
                )
            }
            return answer
        }
        routes.respond(to: Routes.logOut) { _, request, _ in
            var answer = try Answer.json(LoggedOut())
            answer.headers[.setCookie] = LoginCookie.field("", authority: request.head.authority, isSecure: isSecure)
            return answer
        }
    }

    private func report(on caller: Caller) -> CallerReport {
        var report = CallerReport()
        report.access = access.isOn
        report.name = caller.key?.name
        report.role = caller.role?.rawValue
        report.devices = caller.devices
        report.library = caller.libraryRights.inOrder.map(\.rawValue)
        report.host = MachineName.current
        report.release = Release.current
        report.tls = CertificateReport(tls)
        report.tunnel = tunnels.current.map { TunnelReport($0.status) }
        return report
    }
}

extension CertificateReport {
    /// Describes the relay's certificate; `nil` without TLS.
    init?(_ tls: TLSServer?) {
        guard let description = tls?.description else { return nil }
        self.init()
        fingerprint = description.fingerprint.text
        selfSigned = description.isSelfSigned
        expires = description.expires.formatted(.iso8601)
    }
}
