import HTTPTypes
import Media
import NIOCore

extension Problem {
    /// Seconds after which a client that met a limit may try again.
    private static let retryAfter = "5"

    private func retryable() -> Problem {
        var problem = self
        problem.headers[.retryAfter] = Self.retryAfter
        return problem
    }

    static let shuttingDown = Problem(.shuttingDown, "the relay is shutting down").retryable()

    /// The first of the issues: a caller mends one at a time.
    init(_ issues: FieldIssues) {
        let issue = issues.all[0]
        self.init(Code(issue.kind), issue.description, field: issue.name)
    }

    /// - Parameter fallback: What feeds sessions meanwhile; nil when nothing does.
    init(_ error: BroadcastError, device: String, fallback: String? = nil) {
        switch error {
        case .agentTimeout(let timeout, let saidHello, let detail):
            let progress = saidHello ? "the agent said HELLO but its source does not stream" : "no agent said HELLO"
            let advice = detail ?? "See the relay's log for the agent's."
            self.init(.agentTimeout, "\(progress) within \(timeout.seconds.rounded(places: 1)) s. \(advice)")
        case .agentExited(let exit):
            self.init(exit)
        case .sourceUnavailable(let cause, let detail):
            self.init(.sourceUnavailable, detail ?? "the agent cannot capture; see the relay's log")
            extra = [
                Member(name: "cause", value: JSONValue(cause)), Member(name: "fallback", value: JSONValue(fallback)),
            ]
            headers[.retryAfter] = Self.retryAfter
        case .running(let source):
            self.init(
                .broadcastRunning,
                "the broadcast of device \(device) runs with source \(source): stop it before you start it with another",
                field: "source"
            )
        case .stopped:
            self.init(.broadcastStopped, "the broadcast of device \(device) was stopped while it started")
        case .draining:
            self = .shuttingDown
        }
    }

    private init(_ exit: AgentExit) {
        var extra: [Member] = []
        switch exit.cause {
        case .notStarted(let reason):
            self.init(.agentNotStarted, "cannot start capture-agent: \(reason); give its path with --agent")
        case .unknown:
            self.init(.agentExited, "the agent ended while it started: \(exit)")
        case .status(let status):
            self.init(.agentExited, "the agent ended while it started: \(exit)")
            extra.append(Member(name: "exitStatus", value: .integer(status)))
        case .signal(let signal):
            self.init(.agentExited, "the agent ended while it started: \(exit)")
            extra.append(Member(name: "signal", value: .integer(signal)))
        }
        extra.append(Member(name: "lastLine", value: JSONValue(exit.lastLine)))
        self.extra = extra
    }

    init(_ error: SessionError) {
        switch error {
        case .tooMany(let device, let limit):
            self = Problem(.tooManySessions, "device \(device) has \(limit) sessions already: stop one first")
                .retryable()
        case .portInUse(let port):
            self.init(
                .portInUse,
                "port \(port) is in use: choose another, or none for the first free one",
                field: "port"
            )
        case .noFreePort(let first, let last):
            self = Problem(.noFreePort, "no port from \(first) to \(last) is free").retryable()
        case .cannotListen(let reason):
            self.init(.internalError, "cannot open the session's port: \(reason)")
        case .tooManyViewers(let limit):
            self = Problem(.tooManyViewers, "the session has \(limit) viewers already").retryable()
        case .otherCodec(let id, let codec):
            self.init(.otherCodec, "session \(id) is \(codec.rawValue): watch it at \(codec.streamPath(of: id))")
            extra = [Member(name: "path", value: .string(codec.streamPath(of: id)))]
        case .noSource:
            self.init(.noSource, "no agent feeds the session: start the broadcast first")
        case .draining:
            self = .shuttingDown
        }
    }

    private typealias Member = JSONValue.Member
}

extension Problem.Code {
    fileprivate init(_ kind: FieldIssue.Kind) {
        self =
            switch kind {
            case .missing: .missingField
            case .unknown: .unknownField
            case .wrongType: .wrongType
            case .outOfRange: .outOfRange
            case .unknownValue: .unknownValue
            }
    }
}
