/// The kinds of errors, for programs. docs/reference/api.md lists them.
package enum ProblemCode: String, Sendable, Codable, CaseIterable {
    case brokenJSON = "broken_json"
    case notAnObject = "not_an_object"
    case missingField = "missing_field"
    case unknownField = "unknown_field"
    case wrongType = "wrong_type"
    case outOfRange = "out_of_range"
    case unknownValue = "unknown_value"
    case missingKey = "missing_key"
    case wrongKey = "wrong_key"
    case notPaired = "not_paired"
    case pairingRequired = "pairing_required"
    case badLink = "bad_link"
    case forbiddenOrigin = "forbidden_origin"
    case forbiddenRole = "forbidden_role"
    case forbiddenDevice = "forbidden_device"
    case forbiddenLibrary = "forbidden_library"
    case forbiddenCaller = "forbidden_caller"
    case forbiddenLink = "forbidden_link"
    case wrongPIN = "wrong_pin"
    case noCertificate = "no_certificate"
    case pairingNotArmed = "pairing_not_armed"
    case pairingBusy = "pairing_busy"
    case badShare = "bad_share"
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
    case notBroadcast = "not_broadcast"
    case notChangeable = "not_changeable"
    case badTemplate = "bad_template"
    case badContent = "bad_content"
    case unknownTemplate = "unknown_template"
    case tooManyTemplates = "too_many_templates"
    case tooManyWaits = "too_many_waits"
    case noInput = "no_input"
    case emptyClipboard = "empty_clipboard"
    case geometryChanged = "geometry_changed"
    case controlled
    case tooManyOrders = "too_many_orders"
    case unknownApplication = "unknown_application"
    case tooManyApplications = "too_many_applications"
    case noWindow = "no_window"
    case noWindowControl = "no_window_control"
    case noSound = "no_sound"
    case speedTestRunning = "speed_test_running"
    case noAAC = "no_aac"
    case unknownItem = "unknown_item"
    case unknownPlaylist = "unknown_playlist"
    case unknownSegment = "unknown_segment"
    case itemInUse = "item_in_use"
    case noKeys = "no_keys"
    case unknownKey = "unknown_key"
    case keyNameTaken = "key_name_taken"
    case tooManyKeys = "too_many_keys"
    case keysUnavailable = "keys_unavailable"
    case badRange = "bad_range"
    case libraryUnavailable = "library_unavailable"
    case requestTimeout = "request_timeout"
    case bodyTooLarge = "body_too_large"
    case headerTooLarge = "header_too_large"
    case upgradeRequired = "upgrade_required"
    case httpError = "http_error"
    case internalError = "internal_error"
    case agentExited = "agent_exited"
    case agentNotStarted = "agent_not_started"
    case inputFailed = "input_failed"
    case applicationFailed = "application_failed"
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
    case snapshotTimeout = "snapshot_timeout"
    case inputTimeout = "input_timeout"
    case applicationTimeout = "application_timeout"
    case waitTimeout = "wait_timeout"

    /// The code in words.
    package var title: String {
        let words = rawValue.split(separator: "_").joined(separator: " ")
        return words.prefix(1).uppercased() + words.dropFirst()
    }

    /// The HTTP status of the code.
    package var status: Int {
        switch self {
        case .brokenJSON, .notAnObject, .missingField, .unknownField, .wrongType, .outOfRange, .unknownValue,
            .httpError, .badTemplate, .badContent, .badShare, .noCertificate:
            400
        case .missingKey, .wrongKey, .badLink, .notPaired, .pairingRequired: 401
        case .forbiddenOrigin, .forbiddenRole, .forbiddenDevice, .forbiddenLibrary, .forbiddenCaller, .forbiddenLink,
            .wrongPIN:
            403
        case .unknownRoute, .unknownDevice, .unknownSession, .otherCodec, .unknownTemplate, .unknownApplication,
            .emptyClipboard, .unknownItem, .unknownPlaylist, .unknownSegment, .unknownKey:
            404
        case .methodNotAllowed: 405
        case .requestTimeout: 408
        case .broadcastRunning, .broadcastStopped, .portInUse, .noSource, .notBroadcast, .notChangeable,
            .tooManyTemplates, .tooManyWaits, .noInput, .geometryChanged, .controlled, .tooManyOrders,
            .tooManyApplications, .noWindow, .noWindowControl, .noSound, .noAAC, .itemInUse, .noKeys,
            .speedTestRunning, .keyNameTaken, .tooManyKeys, .keysUnavailable, .libraryUnavailable, .pairingNotArmed,
            .pairingBusy:
            409
        case .bodyTooLarge: 413
        case .badRange: 416
        case .upgradeRequired: 426
        case .tooManyFailures: 429
        case .headerTooLarge: 431
        case .internalError: 500
        case .agentExited, .agentNotStarted, .inputFailed, .applicationFailed: 502
        case .sourceUnavailable, .tooManyConnections, .tooManySessions, .tooManyViewers, .noFreePort, .noPicture,
            .shuttingDown, .draining, .notReady:
            503
        case .agentTimeout, .snapshotTimeout, .inputTimeout, .applicationTimeout, .waitTimeout: 504
        }
    }
}

/// An error as a client reads it: `application/problem+json` (RFC 9457).
package struct ProblemReport: Decodable, Sendable {
    /// A word of ``ProblemCode``, or of a later release.
    package let code: String
    package let detail: String

    /// The members that every problem has. Each response lists its codes, and its additional members.
    package static let schema = Schema.request(
        "Problem",
        """
        An error (RFC 9457). `code` is stable and for programs, `detail` is for people. Each response lists its codes and \
        its further members.
        """,
        [
            Field("title", .text, "The code in words.", isRequired: true),
            Field("status", .integer(400...599), "The answer's status.", isRequired: true),
            Field("code", .words(ProblemCode.self), isRequired: true),
            Field("detail", .text, "What is wrong and what to do.", isRequired: true),
            Field("field", .text, "The argument that is wrong, such as `source.kind`; absent if there is none."),
        ]
    ).open
}
