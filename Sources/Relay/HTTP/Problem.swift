import HTTPTypes

/// An error as the API answers it: `application/problem+json` with a stable code.
package struct Problem: Error, Sendable, Equatable {
    /// What went wrong, for programs. docs/api.md lists them.
    package enum Code: String, Sendable, CaseIterable {
        case brokenJSON = "broken_json"
        case notAnObject = "not_an_object"
        case missingField = "missing_field"
        case unknownField = "unknown_field"
        case wrongType = "wrong_type"
        case outOfRange = "out_of_range"
        case unknownValue = "unknown_value"
        case missingKey = "missing_key"
        case wrongKey = "wrong_key"
        case forbiddenOrigin = "forbidden_origin"
        case forbiddenRole = "forbidden_role"
        case tooManyFailures = "too_many_failures"
        case unknownRoute = "unknown_route"
        case unknownDevice = "unknown_device"
        case unknownSession = "unknown_session"
        case otherCodec = "other_codec"
        case methodNotAllowed = "method_not_allowed"
        case broadcastRunning = "broadcast_running"
        case broadcastStopped = "broadcast_stopped"
        case portInUse = "port_in_use"
        case noSource = "no_source"
        case requestTimeout = "request_timeout"
        case bodyTooLarge = "body_too_large"
        case headerTooLarge = "header_too_large"
        case upgradeRequired = "upgrade_required"
        case httpError = "http_error"
        case internalError = "internal_error"
        case agentExited = "agent_exited"
        case agentNotStarted = "agent_not_started"
        case sourceUnavailable = "source_unavailable"
        case tooManyConnections = "too_many_connections"
        case tooManySessions = "too_many_sessions"
        case tooManyViewers = "too_many_viewers"
        case noFreePort = "no_free_port"
        case noPicture = "no_picture"
        case shuttingDown = "shutting_down"
        case draining
        case notReady = "not_ready"
        case agentTimeout = "agent_timeout"
        case stillTimeout = "still_timeout"
        case waitTimeout = "wait_timeout"

        /// The code in words.
        package var title: String {
            let words = rawValue.split(separator: "_").joined(separator: " ")
            return words.prefix(1).uppercased() + words.dropFirst()
        }

        /// The HTTP status that goes with it.
        package var status: Int {
            switch self {
            case .brokenJSON, .notAnObject, .missingField, .unknownField, .wrongType, .outOfRange, .unknownValue,
                .httpError:
                400
            case .missingKey, .wrongKey: 401
            case .forbiddenOrigin, .forbiddenRole: 403
            case .unknownRoute, .unknownDevice, .unknownSession, .otherCodec: 404
            case .methodNotAllowed: 405
            case .requestTimeout: 408
            case .broadcastRunning, .broadcastStopped, .portInUse, .noSource: 409
            case .bodyTooLarge: 413
            case .upgradeRequired: 426
            case .tooManyFailures: 429
            case .headerTooLarge: 431
            case .internalError: 500
            case .agentExited, .agentNotStarted: 502
            case .sourceUnavailable, .tooManyConnections, .tooManySessions, .tooManyViewers, .noFreePort, .noPicture,
                .shuttingDown, .draining, .notReady:
                503
            case .agentTimeout, .stillTimeout, .waitTimeout: 504
            }
        }
    }

    package var code: Code
    /// What is wrong with this request and what to do, for a person.
    package var detail: String
    /// The argument that it is about.
    package var field: String?
    /// Members beside the standard ones.
    package var extra: [JSONValue.Member] = []
    var headers: HTTPFields = [:]
    /// The answer's status: the code's, unless HTTP itself knows better.
    package var status: Int

    package init(_ code: Code, _ detail: String, field: String? = nil) {
        self.code = code
        status = code.status
        self.detail = detail
        self.field = field
    }

    /// The answer's body.
    package var body: JSONValue {
        var members: [JSONValue.Member] = [
            .init(name: "title", value: .string(code.title)),
            .init(name: "status", value: .integer(status)),
            .init(name: "code", value: .string(code.rawValue)),
            .init(name: "detail", value: .string(detail)),
        ]
        if let field { members.append(.init(name: "field", value: .string(field))) }
        return .object(members + extra)
    }
}
