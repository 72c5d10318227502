package import NIOCore
package import Wire

/// Why an admitted link was lost.
package enum LinkLoss: Sendable, Equatable, CustomStringConvertible {
    case closed
    case silent(TimeAmount)
    case protocolError(String)
    /// The agent lets packets pile up.
    case stalled
    /// A newer agent replaced it.
    case displaced
    /// The agent owes pictures and sends none.
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

/// The state machine of one agent link, from its first byte to its loss: it decides who is admitted, and when the link
/// is lost.
package struct LinkStateMachine: Sendable {
    /// The time limits of a link.
    package struct Policy: Sendable {
        package var token: LinkToken
        /// The time limit for a connection to send HELLO.
        package var helloTimeout: TimeAmount
        /// How long an admitted link may be silent.
        package var watchdog: TimeAmount

        package init(token: LinkToken, helloTimeout: TimeAmount, watchdog: TimeAmount) {
            self.token = token
            self.helloTimeout = helloTimeout
            self.watchdog = watchdog
        }
    }

    /// What to do after an event.
    package enum Action: Sendable, Equatable {
        case nothing
        /// The token is correct. Find out whether the agent may be admitted, then call
        /// ``LinkStateMachine/judged(_:_:)``.
        case judge(Hello)
        case admit(Hello)
        /// Deliver the packet to the link's owner.
        case deliver
        /// Send the REJECT, then close. The link was not admitted.
        case refuse(Reject)
        /// Send the REJECT if there is one, then close. The link was admitted.
        case lose(LinkLoss, Reject?)
    }

    private enum State: Equatable {
        case awaitingHello
        case judging
        case admitted
        case ended
    }

    /// Longest packet body before an agent has shown its token. A HELLO fits; an attack on memory does not.
    package static let maximumLengthBeforeHello = 64 << 10
    /// Most packets per second besides access units, and most at once. An agent sends one or two heartbeats a second,
    /// and reports its source and its sessions when they change.
    private static let reportRate = 100
    private static let reportBurst = 2000

    /// How long sockets are read again before a silent link is given up.
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
    /// Longest packet body that is accepted now; `nil` after the end. It is stored because computing it would copy the
    /// machine for each packet.
    package private(set) var maximumLength: Int? = Self.maximumLengthBeforeHello
    private let connected: NIODeadline
    private var lastByte: NIODeadline
    /// When a silent link is lost. The pause before it allows a second look: on a busy machine its bytes may have
    /// arrived without being read.
    private var lossAt: NIODeadline?

    package init(policy: Policy, now: NIODeadline) {
        self.policy = policy
        connected = now
        lastByte = now
    }

    /// When ``timerFired(now:)`` is due next; `nil` after the end.
    package var wake: NIODeadline? {
        switch state {
        case .awaitingHello, .judging: connected + policy.helloTimeout
        case .admitted: lossAt ?? lastByte + policy.watchdog
        case .ended: nil
        }
    }

    /// Records that bytes have arrived, which restarts the watchdog.
    package mutating func bytesArrived(now: NIODeadline) {
        lastByte = now
        lossAt = nil
    }

    /// Whether the link still accepts bytes.
    package var takesBytes: Bool { state != .ended }

    package var isAdmitted: Bool { state == .admitted }

    /// Returns what to do with a packet.
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

    /// Records a unit.
    package mutating func receivedUnit() -> Action {
        switch state {
        case .judging, .ended: .nothing
        case .admitted: .deliver
        case .awaitingHello: end(protocolError: "\(PacketType.accessUnit) before HELLO")
        }
    }

    /// Takes the result of the check whether the agent may be admitted.
    ///
    /// - Parameter reject: Why not; `nil` if it may.
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
        // REST and WAKE have limits per session, because hundreds may need them at once.
        // Answers to orders come as often as callers act, what gamepads do as often as applications want it.
        case .accessUnit, .snapshot, .rest, .wake, .inputDone, .clipboardDone, .applicationDone, .gamepadFeedback:
            return .deliver
        case .hello:
            return end(protocolError: "a second HELLO on the same link")
        default:
            let excess = reported()
            return excess == .nothing ? .deliver : excess
        }
    }

    /// Counts a report, or a packet that its session could not use.
    package mutating func reported() -> Action {
        guard state == .admitted, !reports.take(now: lastByte) else { return .nothing }
        return end(protocolError: "too many packets other than access units: \(Self.reportRate) a second are allowed")
    }

    /// Ends the link because heartbeats come faster than the relay reads them.
    package mutating func flooded() -> Action { end(protocolError: "heartbeats come faster than the relay reads them") }

    /// Refuses the connection because too many others have not sent HELLO yet.
    package mutating func crowded() -> Action {
        guard state == .awaitingHello else { return .nothing }
        return refuse(.tooManyConnections, "too many connections have not sent HELLO: try again later")
    }

    /// Ends the link because the peer does not read.
    package mutating func stalled() -> Action {
        defer { state = .ended }
        return state == .admitted ? .lose(.stalled, nil) : .nothing
    }

    /// Ends the link because a newer agent of the same device and role was admitted.
    package mutating func displaced() -> Action {
        guard state == .admitted else { return .nothing }
        state = .ended
        let reason = "another agent of the same device and role has connected and takes this one's place"
        return .lose(.displaced, Reject(code: .displaced, reason: reason))
    }

    /// Ends the link because the agent hangs.
    package mutating func abandoned() -> Action {
        defer { state = .ended }
        return state == .admitted ? .lose(.hung, nil) : .nothing
    }

    /// Ends the link because the bytes violate the protocol.
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
