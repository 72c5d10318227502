package import NIOCore
package import Wire

/// Why a link that had been admitted is gone.
package enum LinkLoss: Sendable, Equatable, CustomStringConvertible {
    case closed
    case silent(TimeAmount)
    case protocolError(String)
    /// It lets what it is sent pile up.
    case stalled
    /// A newer agent took its place.
    case displaced
    /// It owes pictures and gives none.
    case hung

    package var description: String {
        switch self {
        case .closed: "the agent closed the link"
        case .silent(let time): "not a byte from the agent for \(time.seconds) s"
        case .protocolError(let reason): reason
        case .stalled: "the agent does not read what it is sent"
        case .displaced: "a newer agent took its place"
        case .hung: "the agent's encoder hangs"
        }
    }
}

/// One agent link from its first byte to its loss: who is let in, and when the link counts as lost.
package struct LinkStateMachine: Sendable {
    package struct Policy: Sendable {
        package var token: LinkToken
        /// How long a connection may take to say HELLO.
        package var helloTimeout: TimeAmount
        /// How long an admitted link may be silent.
        package var watchdog: TimeAmount

        package init(token: LinkToken, helloTimeout: TimeAmount, watchdog: TimeAmount) {
            self.token = token
            self.helloTimeout = helloTimeout
            self.watchdog = watchdog
        }
    }

    package enum Action: Sendable, Equatable {
        case nothing
        /// Its token is right: find out whether it may be admitted, then call ``LinkStateMachine/judged(_:_:)``.
        case judge(Hello)
        case admit(Hello)
        /// The packet is for the link's owner.
        case deliver
        /// Send it, then close. The link had not been admitted.
        case refuse(Reject)
        /// Send the REJECT if there is one, then close. The link had been admitted.
        case lose(LinkLoss, Reject?)
    }

    private enum State: Equatable {
        case awaitingHello
        case judging
        case admitted
        case ended
    }

    /// Longest packet body before an agent has shown its token: a HELLO fits, an attack on memory does not.
    package static let maximumLengthBeforeHello = 64 << 10
    /// Packets beside access units, per second, and how many may come at once. An agent sends a heartbeat or two a second, and tells of its
    /// source and its sessions when they change.
    private static let reportRate = 100
    private static let reportBurst = 2000

    /// How long sockets are read before silence is believed.
    private static let secondLook = TimeAmount.milliseconds(20)

    private let policy: Policy
    private var reports = TokenBucket(capacity: Self.reportBurst, perSecond: Self.reportRate)
    private var state = State.awaitingHello {
        didSet {
            maximumLength =
                switch state {
                case .awaitingHello: Self.maximumLengthBeforeHello
                case .admitted: PacketHeader.maximumLength
                case .judging, .ended: nil
                }
        }
    }
    /// Longest packet body that is accepted now, nil when nothing is any more. Stored because a look at what is computed copies the machine, for each
    /// packet.
    package private(set) var maximumLength: Int? = Self.maximumLengthBeforeHello
    private let connected: NIODeadline
    private var lastByte: NIODeadline
    /// When a link that has been silent for long enough is lost: a second look, since on a busy machine its bytes may have come and not been
    /// read yet.
    private var lossAt: NIODeadline?

    package init(policy: Policy, now: NIODeadline) {
        self.policy = policy
        connected = now
        lastByte = now
    }

    /// When ``timerFired(now:)`` is due next, nil after the end.
    package var wake: NIODeadline? {
        switch state {
        case .awaitingHello, .judging: connected + policy.helloTimeout
        case .admitted: lossAt ?? lastByte + policy.watchdog
        case .ended: nil
        }
    }

    package mutating func bytesArrived(now: NIODeadline) {
        lastByte = now
        lossAt = nil
    }

    /// Whether bytes that come are of use still.
    package var takesBytes: Bool { state != .ended }

    package var isAdmitted: Bool { state == .admitted }

    package mutating func received(_ packet: Packet) -> Action {
        switch state {
        case .judging, .ended:
            return .nothing
        case .admitted:
            return admittedReceived(packet)
        case .awaitingHello:
            guard case .hello(let hello) = packet else { return end(protocolError: "\(packet.type) before HELLO") }
            guard policy.token.matches(hello.token) else {
                return refuse(
                    .wrongToken,
                    "wrong link token: start the agent with the token that this relay is configured with"
                )
            }
            state = .judging
            return .judge(hello)
        }
    }

    /// A unit has come.
    package mutating func receivedUnit() -> Action {
        switch state {
        case .judging, .ended: .nothing
        case .admitted: .deliver
        case .awaitingHello: end(protocolError: "\(PacketType.accessUnit) before HELLO")
        }
    }

    /// It is known whether the agent may be admitted.
    ///
    /// - Parameter reject: Why not; nil if it may.
    package mutating func judged(_ hello: Hello, _ reject: Reject?) -> Action {
        guard state == .judging else { return .nothing }
        if let reject {
            state = .ended
            return .refuse(reject)
        }
        state = .admitted
        return .admit(hello)
    }

    private mutating func admittedReceived(_ packet: Packet) -> Action {
        switch packet {
        // Sessions have limits of their own for REST and WAKE: hundreds may need them at once.
        case .accessUnit, .snapshot, .rest, .wake:
            return .deliver
        case .hello:
            return end(protocolError: "a second HELLO on the same link")
        default:
            let excess = reported()
            return excess == .nothing ? .deliver : excess
        }
    }

    /// Counts a report, or a packet that its session had no use for.
    package mutating func reported() -> Action {
        guard state == .admitted, !reports.take(now: lastByte) else { return .nothing }
        return end(protocolError: "too many packets beside access units: \(Self.reportRate) a second are allowed")
    }

    /// Heartbeats come faster than they can be read.
    package mutating func flooded() -> Action { end(protocolError: "heartbeats come faster than they can be read") }

    /// Too many others have not said HELLO yet.
    package mutating func crowded() -> Action {
        guard state == .awaitingHello else { return .nothing }
        return refuse(.tooManyConnections, "too many connections have not said HELLO: try again later")
    }

    /// The peer does not read what it is sent.
    package mutating func stalled() -> Action {
        defer { state = .ended }
        return state == .admitted ? .lose(.stalled, nil) : .nothing
    }

    /// A newer agent of the same device and role has been admitted.
    package mutating func displaced() -> Action {
        guard state == .admitted else { return .nothing }
        state = .ended
        let reason = "another agent of the same device and role has connected and takes this one's place"
        return .lose(.displaced, Reject(code: .displaced, reason: reason))
    }

    /// The agent is of no use any more, though it is there.
    package mutating func abandoned() -> Action {
        defer { state = .ended }
        return state == .admitted ? .lose(.hung, nil) : .nothing
    }

    /// The bytes are not the protocol.
    package mutating func failed(_ error: WireError) -> Action { end(protocolError: error.description) }

    package mutating func closed() -> Action {
        defer { state = .ended }
        return state == .admitted ? .lose(.closed, nil) : .nothing
    }

    package mutating func timerFired(now: NIODeadline) -> Action {
        guard let wake, now >= wake else { return .nothing }
        if state != .admitted {
            return refuse(.helloTimeout, "no HELLO within \(policy.helloTimeout.seconds) s")
        }
        guard lossAt != nil else {
            lossAt = now + Self.secondLook
            return .nothing
        }
        state = .ended
        return .lose(.silent(policy.watchdog), nil)
    }

    private mutating func refuse(_ code: Reject.Code, _ reason: String) -> Action {
        state = .ended
        return .refuse(Reject(code: code, reason: reason))
    }

    private mutating func end(protocolError reason: String) -> Action {
        defer { state = .ended }
        let reject = Reject(code: .protocolError, reason: reason)
        switch state {
        case .awaitingHello, .judging: return .refuse(reject)
        case .admitted: return .lose(.protocolError(reason), reject)
        case .ended: return .nothing
        }
    }
}
