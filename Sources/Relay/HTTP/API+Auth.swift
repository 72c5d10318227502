import Access
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Program
import Wire

extension API {
    func addAuthRoutes(to routes: inout RouteTable) {
        routes.add(.get, "/auth", for: .viewer) { _, context in Answer.json(report(on: context.caller)) }
        routes.add(.post, "/auth/login", for: .anyone) { request, context in
            let key = try await Self.arguments(request) { reader in
                reader.require("key")
                let key = reader.string("key", length: 0...APIKey.maximumLength)
                reader.finish()
                return key
            }
            let (caller, cookie) = try access.logIn(key, from: context.channel.remoteAddress)
            if let key = caller.key { context.audit.note("key", key.name) }
            var answer = Answer.json(report(on: caller))
            if let cookie {
                answer.headers[.setCookie] = LoginCookie.field(
                    cookie,
                    authority: request.head.authority,
                    isSecure: tls != nil
                )
            }
            return answer
        }
        routes.add(.post, "/auth/logout", for: .anyone) { request, _ in
            try await Self.noArguments(request)
            var answer = Answer.json(["loggedOut": true])
            answer.headers[.setCookie] = LoginCookie.field("", authority: request.head.authority, isSecure: tls != nil)
            return answer
        }
    }

    private func report(on caller: Caller) -> JSONValue {
        [
            "access": .bool(access.isOn),
            "name": JSONValue(caller.key?.name),
            "role": JSONValue(caller.role?.rawValue),
            "host": .string(MachineName.current),
            "release": .string(Release.current),
            "tls": TLSReport.json(tls),
        ]
    }
}
