import HTTPTypes
import HeliographAPI
import Media
import NIOCore
import NIOHTTP1
import Wire

extension Problem {
    /// How long a client that met a limit should wait before it tries again, in s.
    private static let retryAfter = "5"

    private func retryable() -> Problem {
        var problem = self
        problem.headers[.retryAfter] = Self.retryAfter
        return problem
    }

    static func retryable(_ code: Code, _ detail: String) -> Problem { Problem(code, detail).retryable() }

    static let shuttingDown = Problem(.shuttingDown, "the relay is shutting down").retryable()

    static func requestTimeout(_ time: TimeAmount) -> Problem {
        Problem(.requestTimeout, "the request did not arrive within \(time.seconds) s")
    }

    init(_ refusal: Connections.Refusal) {
        let detail =
            refusal == .address
            ? "your address has as many connections to the relay as one may have: close some, or try again later"
            : "the relay has as many connections as it may have: try again later"
        self = .retryable(.tooManyConnections, detail)
    }

    /// Creates the problem for a request whose head is malformed or too large.
    init(_ error: HTTPParserError) {
        guard error == .headerOverflow else {
            self.init(.httpError, "this is not an HTTP request: \(error)")
            return
        }
        let most = RequestLimitHandler.head
        self.init(
            .headerTooLarge,
            "the request's head may have \(most.maxHeaderListSize) bytes in all, \(most.maxHeaderFieldSize) in one field or its path, and \(most.maxHeaderFieldCount) fields"
        )
    }

    /// Creates the problem for the first issue, because callers fix one at a time.
    init(_ issues: FieldIssues) {
        let issue = issues.all[0]
        self.init(Code(issue.kind), issue.description, field: issue.name)
    }

    /// Creates the problem for a failed start.
    ///
    /// - Parameter fallback: The source that feeds sessions meanwhile; `nil` if there is none.
    init(_ error: BroadcastError, device: String, fallback: String? = nil) {
        switch error {
        case .agentTimeout(let timeout, let saidHello, let detail):
            let progress = saidHello ? "the agent said HELLO but its source does not stream" : "no agent said HELLO"
            let advice = detail ?? "See the relay's log for the agent's."
            self.init(.agentTimeout, "\(progress) within \(timeout.seconds.rounded(places: 1)) s. \(advice)")
        case .agentExited(let exit):
            self.init(exit)
        case .sourceUnavailable(let cause, let detail):
            let reason = detail ?? "The agent cannot capture; see the relay's log."
            let outlook = fallback == nil ? "" : " The broadcast keeps trying until you stop it."
            self.init(.sourceUnavailable, reason + outlook)
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
            self.init(.agentNotStarted, "cannot start capture-agent, whose path the setting agent is: \(reason)")
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
            self = Problem(.noFreePort, "no port from \(first) to \(last) is free: stop a session, or name a port")
                .retryable()
        case .cannotListen(let reason):
            self.init(.internalError, "cannot open the session's port: \(reason)")
        case .tooManyViewers(let limit):
            self = Problem(
                .tooManyViewers,
                "the session has \(limit) viewers already: close one, or watch another session"
            ).retryable()
        case .otherCodec(let id, let codec):
            let stream = codec == .h264 ? Routes.streamH264 : Routes.streamH265
            let path = stream.route.aliased.path(session: id)
            self.init(.otherCodec, "session \(id) is \(codec.rawValue): watch it at \(path)")
            extra = [Member(name: "path", value: .string(path))]
        case .notChangeable(let field):
            self.init(
                .notChangeable,
                "\(field) cannot change while the session runs: stop the session first, or use another name",
                field: field
            )
        case .noSource:
            self.init(.noSource, "no agent feeds the session: start the broadcast first")
        case .noLibrary(let reason): self.init(.libraryUnavailable, reason)
        case .lastViewers:
            self = .retryable(.draining, "the relay drains: it takes nobody new, and ends when its viewers have gone")
        case .draining:
            self = .shuttingDown
        }
    }

    @MediaLoop
    init(_ failure: SharedSession.Failure, on broadcast: Broadcast) {
        let device = broadcast.device.name
        switch failure {
        case .asksPerson(let kind):
            self.init(
                .notBroadcast,
                "device \(device) is not broadcast, and its source \(kind.rawValue) may ask a person: start the broadcast first"
            )
        case .broadcast(let error): self.init(error, device: device, fallback: broadcast.fallback?.kind.rawValue)
        case .session(let error): self.init(error)
        }
    }

    init(_ failure: SnapshotFailure, session: Session) {
        switch failure {
        case .noSource:
            self = .noPicture("no_source", "no agent feeds the session: start the broadcast first")
        case .sourceLost:
            self = .noPicture(
                "source_lost",
                "the session's source delivers no pictures; without fresh you get the last one"
            )
        case .refused(let refusal):
            self = .noPicture(refusal)
        case .timeout(let time):
            self.init(.snapshotTimeout, "the agent did not make a picture within \(time.seconds) s")
        case .tooManyWait(let limit):
            self = Problem(.tooManyViewers, "\(limit) wait for pictures of the session already").retryable()
        case .ended:
            self.init(.unknownSession, "session \(session.id) has ended")
        }
    }

    @MediaLoop
    init(_ failure: ScreenWaitFailure, _ query: WaitQuery, session: Session) {
        switch failure {
        case .timedOut:
            let source = session.stream.feed
            let statement =
                switch query.until {
                case .changed: "the screen did not change"
                case .static: "the screen was not static for \(query.staticTime) s"
                }
            let reason = source == .none ? "; no source delivers its pictures" : ""
            self.init(.waitTimeout, "\(statement) within \(query.timeout) s\(reason)")
            extra = [Member(name: "feed", value: .string(source.rawValue))]
        case .tooMany(let limit):
            self = Problem(.tooManyViewers, "\(limit) wait for the session's screen already").retryable()
        case .ended:
            self.init(.unknownSession, "session \(session.id) has ended")
        case .abandoned:
            self.init(.httpError, "the client has gone")
        }
    }

    private static func noPicture(_ refusal: Snapshot.Refusal) -> Problem {
        switch refusal {
        case .unknownSession: noPicture("unknown_session", "the agent does not know the session yet")
        case .noFrame: noPicture("no_frame", "the screen has sent no picture yet")
        case .unreadable: noPicture("dma_buf", "the picture is in a DMA-BUF, which only an encoder reads")
        case .tooLarge: noPicture("too_large", "the file would be larger than 16 MiB: ask for another format")
        case .busy: noPicture("busy", "too many snapshots are waiting to be made")
        case .failed: noPicture("failed", "the agent's library for this format failed")
        }
    }

    private static func noPicture(_ cause: String, _ detail: String) -> Problem {
        var problem = Problem(.noPicture, detail).retryable()
        problem.extra = [Member(name: "cause", value: .string(cause))]
        return problem
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
