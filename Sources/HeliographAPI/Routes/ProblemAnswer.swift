/// The problems of one status in a route's answers.
package struct ProblemAnswer: Sendable {
    /// The name in openapi.json's components; `nil` for an answer that is written in place.
    package let name: String?
    package let codes: [ProblemCode]
    package let description: String
    /// Members in addition to those of every problem.
    package var fields: [Field] = []
    /// Headers in addition to those of the status.
    package var ownHeaders: [Field] = []

    package init(
        _ codes: [ProblemCode],
        _ description: String,
        _ fields: [Field] = [],
        headers: [Field] = [],
        named name: String? = nil
    ) {
        self.name = name
        self.codes = codes
        self.description = description
        self.fields = fields
        ownHeaders = headers
    }

    /// The answer's status, the same for all codes.
    package var status: Int { codes.first?.status ?? 500 }

    package var headers: [Field] {
        switch status {
        case 401: ownHeaders + [Field("WWW-Authenticate", .text, isRequired: true)]
        case 429, 503: ownHeaders + [Field("Retry-After", .count(from: 1), "s.", isRequired: true)]
        default: ownHeaders
        }
    }
}

extension ProblemAnswer {
    static let noKey = Self(
        [.missingKey, .wrongKey, .notPaired, .pairingRequired],
        "The call needs a key, and there is none or a wrong one; or it needs a client that has paired.",
        named: "NoKey"
    )
    static let tooManyFailures = Self(
        [.tooManyFailures],
        "Too many wrong keys came from this address.",
        named: "TooManyFailures"
    )
    package static let otherSite = Self(
        [.forbiddenOrigin],
        "The call comes from another site's page, or its Host is not the relay's.",
        named: "OtherSite"
    )
    static let otherSiteOrDevice = Self(
        [.forbiddenOrigin, .forbiddenDevice],
        "The call comes from another site's page, its Host is not the relay's, or the key is for other devices.",
        named: "OtherSiteOrDevice"
    )
    static let otherSiteOrRole = Self(
        [.forbiddenOrigin, .forbiddenRole, .forbiddenDevice],
        """
        The call comes from another site's page, its Host is not the relay's, or the key is a viewer's or for other devices.
        """,
        named: "OtherSiteOrRole"
    )
    static let otherSiteOrController = Self(
        [.forbiddenOrigin, .forbiddenRole, .forbiddenDevice, .forbiddenCaller],
        """
        The call comes from another site's page, its Host is not the relay's, the key is a viewer's or for other devices, \
        or there are no keys and the caller is not a process of the relay's own user on this machine.
        """,
        named: "OtherSiteOrController"
    )
    static let otherSiteOrLibrary = Self(
        [.forbiddenOrigin, .forbiddenDevice, .forbiddenLibrary],
        """
        The call comes from another site's page, its Host is not the relay's, or the key is for other devices or lacks the \
        right in the library.
        """,
        named: "OtherSiteOrLibrary"
    )
    static let unknownDevice = Self([.unknownDevice], "There is no such device.", named: "UnknownDevice")
    static let unknownSession = Self([.unknownSession], "There is no such session.", named: "UnknownSession")
    static let unknownDeviceOrSession = Self(
        [.unknownDevice, .unknownSession],
        "There is no such device, or it has no such session.",
        named: "UnknownDeviceOrSession"
    )
    static let bodyTooLarge = Self([.bodyTooLarge], "The body has more than 65536 bytes.", named: "BodyTooLarge")
    static let internalError = Self(
        [.internalError],
        "A fault of the relay's; its log says more.",
        named: "InternalError"
    )
    static let noRoom = Self(
        [.tooManyViewers, .draining],
        "The session has its most viewers, or the relay drains.",
        named: "NoRoom"
    )
    static let upgradeRequired = Self(
        [.upgradeRequired],
        "The request is not an upgrade, has another version, or is not the connection's first.",
        headers: [
            Field("Upgrade", .constant("websocket"), isRequired: true),
            Field("Sec-WebSocket-Version", .constant("13"), isRequired: true),
        ]
    )
    package static let unknownRoute = Self([.unknownRoute], "The answer of any other path.", named: "UnknownRoute")

    /// Problems that do not belong to a route.
    package static let badLink = Self(
        [.badLink],
        "The signed link has ended, or its key has been revoked.",
        named: "BadLink"
    )
    package static let forbiddenLink = Self(
        [.forbiddenLink],
        "The signed link is for something else.",
        named: "ForbiddenLink"
    )
    package static let methodNotAllowed = Self(
        [.methodNotAllowed],
        "The answer to any other method of a path here.",
        headers: [Field("Allow", .text, "The methods that the path takes.", isRequired: true)],
        named: "MethodNotAllowed"
    )
    package static let requestTimeout = Self(
        [.requestTimeout],
        "408: the request did not come in time. The relay closes the connection.",
        named: "RequestTimeout"
    )
    package static let headerTooLarge = Self(
        [.headerTooLarge],
        "431: the request's head is too large. The relay closes the connection.",
        named: "HeaderTooLarge"
    )
    package static let tooManyConnections = Self(
        [.tooManyConnections],
        "503: there are too many connections. The relay closes this one.",
        named: "TooManyConnections"
    )
}

extension ProblemAnswer {
    /// Returns the problems of one status: those of `other`, which may contain these, or both.
    fileprivate func joined(with other: ProblemAnswer) -> ProblemAnswer {
        let added = other.codes.filter { !codes.contains($0) }
        if added.count + codes.count == other.codes.count { return other }
        if added.isEmpty { return self }
        return ProblemAnswer(
            codes + added,
            "\(description) \(other.description)",
            // A member that only one of the codes has may be absent.
            (fields + other.fields).map { Field($0.name, $0.schema, $0.summary) },
            headers: ownHeaders + other.ownHeaders
        )
    }
}

extension Route {
    /// All problems that the call may answer, one entry for each status.
    package var problems: [ProblemAnswer] {
        var problems: [Int: ProblemAnswer] = [:]
        for problem in derivedProblems + ownProblems {
            problems[problem.status] = problems[problem.status]?.joined(with: problem) ?? problem
        }
        return problems.values.sorted { $0.status < $1.status }
    }

    private var derivedProblems: [ProblemAnswer] {
        var problems = [ProblemAnswer.internalError]
        switch access {
        case .anyone, .viewer: problems.append(mayForbidDevice ? .otherSiteOrDevice : .otherSite)
        case .controller: problems.append(.otherSiteOrController)
        case .operator: problems.append(.otherSiteOrRole)
        case .look, .record, .delete: problems.append(.otherSiteOrLibrary)
        }
        if access != .anyone { problems += [.noKey, .tooManyFailures] }
        if takesBody {
            let isUsual = maximumBody == Self.usualBody
            problems.append(
                isUsual ? .bodyTooLarge : .init([.bodyTooLarge], "The body has more than \(maximumBody) bytes.")
            )
        }
        switch addressKind {
        case .named: problems.append(.unknownDeviceOrSession)
        case .device: problems += [.unknownDeviceOrSession] + ProblemAnswer.startOnDemand
        case .main, .alias:
            if parameters.contains("device") || arguments.fields.contains(where: { $0.name == "device" }) {
                problems.append(.unknownDevice)
            }
            if parameters.contains("id") { problems.append(.unknownSession) }
        }
        if let wrongArguments { problems.append(wrongArguments) }
        return problems
    }

    package var takesBody: Bool {
        switch place {
        case .body, .queryOrBody: true
        case .query, .nowhere, .png, .content: false
        }
    }

    /// The problems of invalid arguments.
    private var wrongArguments: ProblemAnswer? {
        guard place != .nowhere else { return nil }
        var codes: Set<ProblemCode> = [.unknownField]
        if takesBody { codes.formUnion([.brokenJSON, .notAnObject]) }
        if takesBody || refusesBody { codes.insert(.httpError) }
        if needsDevice { codes.insert(.missingField) }
        codes.formUnion(arguments.issues(inQuery: !takesBody))
        let sorted = ProblemCode.allCases.filter(codes.contains)
        switch (takesBody, arguments.fields.isEmpty) {
        case (true, true): return .init(sorted, "The call takes no arguments, and its body has some.", named: "BadBody")
        case (true, false): return .init(sorted, "The arguments are wrong.")
        case (false, true): return .init(sorted, "The call takes no query, and there is one.", named: "UnknownQuery")
        case (false, false): return .init(sorted, "The query is wrong.")
        }
    }
}

extension Schema {
    /// Returns the possible problems of a value and its fields.
    fileprivate func issues(inQuery: Bool) -> Set<ProblemCode> {
        switch form {
        case .object(let fields):
            var issues = Set(fields.flatMap { $0.schema.issues(inQuery: inQuery) })
            if fields.contains(where: \.isRequired) { issues.insert(.missingField) }
            return issues
        case .variants(let variants): return Set(variants.flatMap { $0.issues(inQuery: inQuery) })
        case .list(let elements, _): return elements.issues(inQuery: inQuery).union([.wrongType, .outOfRange])
        case .bool: return [.wrongType]
        case .words, .constant: return inQuery ? [.unknownValue] : [.unknownValue, .wrongType]
        case .pattern: return [.wrongType, .outOfRange, .unknownValue]
        // In a query, every value is a string.
        case .string: return inQuery ? [.outOfRange] : [.wrongType, .outOfRange]
        default: return [.wrongType, .outOfRange]
        }
    }
}
