import Access
import HTTPTypes
import HeliographAPI
import NIOCore

extension Problem {
    /// The challenge of RFC 6750, section 3.
    private static let challenge = "Bearer realm=\"heliograph\""

    static var missingKey: Problem {
        var problem = Problem(
            .missingKey,
            "this relay wants a key: Authorization: Bearer …, or for heliograph --key-file or HELIOGRAPH_KEY. Its operator makes one with `heliograph keys make`"
        )
        problem.headers[.wwwAuthenticate] = challenge
        return problem
    }

    static var wrongKey: Problem {
        var problem = Problem(.wrongKey, "the relay does not know this key; it may have been revoked")
        problem.headers[.wwwAuthenticate] = "\(challenge), error=\"invalid_token\""
        return problem
    }

    static func forbiddenRole(_ role: Role?, needs needed: Role) -> Problem {
        Problem(
            .forbiddenRole,
            "this call is for keys of role \(needed.rawValue); yours is of role \(role?.rawValue ?? "none")"
        )
    }

    static func tooManyFailures(wait: TimeAmount) -> Problem {
        let seconds = max(1, Int(wait.seconds.rounded(.up)))
        var problem = Problem(.tooManyFailures, "too many wrong keys from this address: wait \(seconds) s")
        problem.headers[.retryAfter] = String(seconds)
        return problem
    }
}
