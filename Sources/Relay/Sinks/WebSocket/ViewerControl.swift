import HeliographAPI
import Logging
import Media
import NIOCore
import NIOWebSocket
import Wire

/// Whether a viewer may act on its session's screen.
enum ControlRight: Sendable {
    case may(InputControl.Caller)
    /// Why it may not, for people.
    case mayNot(String)
}

/// One viewer's control of its session's device.
@MediaLoop
final class ViewerControl {
    /// What the viewer is told, at every change.
    private struct State: Equatable {
        var isMine: Bool
        var controller: InputControl.Caller?
        var input: InputCapabilities?
        var hasMicrophone: Bool
        var speaker: InputControl.Caller?
        var wasTaken: Bool
    }

    /// Refusals of one reason that the viewer has not been told.
    private struct Refused {
        var detail: String
        var count = 1
    }

    /// The session whose pixels places are.
    private var session: Session
    private weak var broadcast: Broadcast?
    private let right: ControlRight
    private let logger: Logger
    private weak var viewer: WebSocketViewer?

    private var live: LiveInput
    /// Whether this viewer controls the device.
    private var isMine = false
    private var wasTaken = false
    private var told: State?
    /// The agent that has what is held.
    private var role = AgentRole.primary
    private var refused: [String: Refused] = [:]
    private var refusals = TokenBucket(capacity: 100, perSecond: 10)
    private var refusalEvents = TokenBucket(capacity: 5, perSecond: 5)
    /// Each makes a device in the agent's kernel.
    private var gamepadConnects = TokenBucket(capacity: 5, perSecond: 1)
    /// In ms of speech. A speaker's clock may be a little fast.
    private var speech = TokenBucket(capacity: 500, perSecond: 1050)
    private var speechRefusals = TokenBucket(capacity: 1, perSecond: 1)
    /// What the viewer has not been told about its gamepad.
    private var gamepadEvent: GamepadEvent?
    private var ended = false
    // For the log.
    private var since = NIODeadline.now()
    private var events = 0

    /// - Parameter broadcast: That of the session's device; `nil` if it is gone.
    init(
        of viewer: WebSocketViewer,
        session: Session,
        on broadcast: Broadcast?,
        right: ControlRight,
        logger: Logger
    ) {
        self.viewer = viewer
        self.session = session
        self.broadcast = broadcast
        self.right = right
        self.logger = logger
        live = LiveInput(now: .now())
    }

    // MARK: The viewer's side

    /// Handles a message. It is done before the next one, so that input keeps its order.
    func received(_ input: ViewerInput) {
        guard !ended else { return }
        guard case .may(let caller) = right else {
            if case .mayNot(let why) = right { refuse(.forbidden, why) }
            return
        }
        switch input {
        case .claim(let takes): claim(by: caller, takes: takes)
        case .leave: leave(caller)
        case .gamepad(let message): use(message, by: caller)
        case .speech(let packet): speak(packet, by: caller)
        case .unknown(let kind): refuse(.unknown, "the relay does not know messages of kind \(kind)")
        case .beat: if isMine { perform(live.take(.beat, now: .now())) }
        case .move, .motion, .button, .scroll, .touch, .key, .text, .release: act(input, by: caller)
        }
    }

    /// Releases what is overdue, follows the feed, and tells what has changed. Called periodically.
    func tick() {
        guard !ended else { return }
        if isMine {
            followFeed()
            perform(live.tick(now: .now()))
            broadcast?.microphone.tick(of: self)
        }
        tellRefusals()
        tellGamepad()
        tellChange()
    }

    /// Ends control when the viewer is gone, or will be.
    func end() {
        guard !ended else { return }
        if case .may(let caller) = right { leave(caller) }
        ended = true
    }

    /// Ends control because another caller, or another viewer of the same one, has taken it.
    func lose() {
        guard isMine else { return }
        letGo()
        (isMine, wasTaken) = (false, true)
        log("lost")
        tellChange()
    }

    /// Takes places as pixels of another layer of the session from now on.
    func follow(_ layer: Session) { session = layer }

    // MARK: Control

    private func claim(by caller: InputControl.Caller, takes: Bool) {
        guard let broadcast else { return refuse(.noInput, "the device is not configured any more") }
        if isMine { followFeed() } else { role = session.inputRole }
        let input = broadcast.agent(role).inputs
        let canAct = input.map { $0.objection(to: []) == nil || $0.gamepads?.isEmpty == false } ?? false
        guard canAct || broadcast.hasMicrophone else {
            let why = input?.problem ?? "no agent of the device is linked, or it has not said how it can act"
            return refuse(.noInput, why)
        }
        guard claims(broadcast, by: caller, takes: takes) else { return }
        if !isMine {
            (isMine, wasTaken) = (true, false)
            (since, events) = (.now(), 0)
            log("begun")
        }
        // A viewer that asks is told, even if it was not told yet that it had lost control.
        told = nil
        tellChange()
    }

    /// Claims the device for one event.
    private func claims(_ broadcast: Broadcast, by caller: InputControl.Caller, takes: Bool) -> Bool {
        switch broadcast.control.claim(by: caller, of: self, takes: takes) {
        case .granted: return true
        case .refused(let other):
            refuse(.controlled, "\(other.who) controls the device")
            return false
        }
    }

    private func leave(_ caller: InputControl.Caller) {
        guard isMine else { return }
        letGo()
        (isMine, wasTaken) = (false, false)
        broadcast?.control.leave(caller)
        log("ended")
        if !ended { tellChange() }
    }

    /// Ends all that only lasts while the viewer controls the device.
    private func letGo() {
        releaseHeld()
        broadcast?.gamepads.disconnect(of: self, because: "Control has ended.")
        broadcast?.microphone.end(of: self)
    }

    // MARK: Input

    private func act(_ input: ViewerInput, by caller: InputControl.Caller) {
        guard isMine, let broadcast else {
            return refuse(.notControlling, "ask for control first, by a message of kind 1")
        }
        followFeed()
        guard claims(broadcast, by: caller, takes: false) else { return }
        guard let capabilities = broadcast.agent(role).inputs else {
            return refuse(.noInput, "no agent of the device is linked")
        }
        if let objection = capabilities.objection(to: input.needs) { return refuse(.noInput, objection) }
        events += 1
        perform(live.take(input, now: .now()))
    }

    private func perform(_ actions: [LiveInput.Action]) {
        for action in actions {
            switch action {
            case .send(let order): send(order) { [weak self] outcome in self?.ended(order, outcome) }
            case .refuse(.rate, let detail): refuse(.rate, detail)
            case .refuse(.busy, let detail): refuse(.busy, detail)
            }
        }
    }

    private func send(_ order: LiveOrder, _ end: @escaping @MediaLoop (InputOrders.Outcome) -> Void) {
        guard broadcast?.agent(role).link != nil else { return end(.lost) }
        broadcast?.inputs.post(order, session: order.needsSession ? session.id : 0, to: role, end)
    }

    private func ended(_ order: LiveOrder, _ outcome: InputOrders.Outcome) {
        if case .done = outcome { return perform(live.ended(order, isDone: true)) }
        let next = live.ended(order, isDone: false)
        // Movement beyond the screen, or over a picture that has changed, is nothing to tell.
        if !order.isMovement { refuse(outcome) }
        perform(next)
    }

    /// Releases what another agent holds, once that agent does not feed the session any more.
    private func followFeed() {
        let current = session.inputRole
        broadcast?.gamepads.feeds(gamepadRole, of: self)
        guard current != role else { return }
        releaseHeld()
        role = current
    }

    /// Releases what is held, and forgets what waits.
    private func releaseHeld() {
        if let order = live.drop() { send(order) { _ in } }
    }

    // MARK: Gamepad

    /// The agent that feeds the session; `nil` if it is not linked.
    private var gamepadRole: AgentRole? {
        let role = session.inputRole
        return broadcast?.agent(role).link == nil ? nil : role
    }

    private func use(_ message: GamepadMessage, by caller: InputControl.Caller) {
        // Also after control has ended, and with it the gamepad.
        if message == .disconnect {
            broadcast?.gamepads.disconnect(of: self)
            return
        }
        guard isMine, let broadcast else {
            return refuse(.notControlling, "ask for control first, by a message of kind 1")
        }
        followFeed()
        switch message {
        case .connect(let type):
            // An agent that could but lacks a device node says so itself.
            guard broadcast.agent(role).inputs?.gamepads != nil else {
                return refuse(.noInput, "the agent makes no gamepads: it is of an older release, or has just started")
            }
            guard gamepadConnects.take(now: .now()) else {
                return refuse(.rate, "more than one gamepad a second")
            }
            guard claims(broadcast, by: caller, takes: false) else { return }
            events += 1
            broadcast.gamepads.connect(type, of: self, on: gamepadRole)
        case .state(let state):
            guard broadcast.gamepads.isOwned(by: self) else {
                return refuse(.noGamepad, "connect a gamepad first, by a message of kind 16")
            }
            // A state that says the same again is a sign of life, as a beat is.
            if broadcast.gamepads.isChanged(by: state) {
                guard claims(broadcast, by: caller, takes: false) else { return }
                events += 1
            }
            broadcast.gamepads.show(state, of: self)
        case .disconnect: break
        }
    }

    /// Tells the viewer how its gamepad is, now or once its connection has room.
    func tell(_ event: GamepadEvent) {
        gamepadEvent = event
        tellGamepad()
    }

    private func tellGamepad() {
        guard let viewer, viewer.hasRoom, let event = gamepadEvent else { return }
        gamepadEvent = nil
        viewer.tell([event.json])
    }

    // MARK: Speech

    /// - Parameter packet: An Opus packet; empty to end.
    private func speak(_ packet: [UInt8], by caller: InputControl.Caller) {
        guard let broadcast, !packet.isEmpty else {
            broadcast?.microphone.end(of: self)
            return tellChange()
        }
        guard isMine else { return refuse(.notControlling, "ask for control first, by a message of kind 1") }
        guard session.device.hasMicrophone else {
            return refuse(.noMicrophone, "the device's microphone is off: set microphone")
        }
        guard broadcast.hasMicrophone else {
            return refuse(
                .noMicrophone,
                "the agent has made no microphone: is PipeWire running in the desktop's session?"
            )
        }
        guard let duration = packet.read({ OpusPacket($0) })?.milliseconds, speech.take(duration, now: .now()) else {
            // After a stall all comes at once, which is no reason to end the connection.
            if speechRefusals.take(now: .now()) { refuse(.rate, "more speech than its time; it is left out") }
            return
        }
        guard claims(broadcast, by: caller, takes: false) else { return }
        if broadcast.microphone.speaker == nil { log("speaks") }
        events += 1
        broadcast.microphone.take(packet, from: self, by: caller)
        tellChange()
    }

    // MARK: What the viewer is told

    private func refuse(_ outcome: InputOrders.Outcome) {
        switch outcome {
        case .done: break
        case .refused(let refusal, _, let detail): refuse(refusal.word, detail)
        case .lost: refuse("lost", "the agent was lost")
        case .timeout: refuse("failed", "the agent did not answer")
        case .withdrawn(.takenOver), .withdrawn(.callerGone): break
        case .withdrawn(.feedSwitched): refuse("lost", "another agent shows the screen; everything was released")
        }
    }

    /// Why the relay itself does not accept input.
    private enum Refusal: String {
        case forbidden, controlled, rate, busy, unknown
        case notControlling = "not_controlling"
        case noInput = "no_input"
        case noGamepad = "no_gamepad"
        case noMicrophone = "no_microphone"
    }

    private func refuse(_ refusal: Refusal, _ detail: String) { refuse(refusal.rawValue, detail) }

    private func refuse(_ reason: String, _ detail: String) {
        guard !ended else { return }
        guard refusals.take(now: .now()) else {
            end()
            viewer?.close(WebSocketClose(.policyViolation, "too much input was refused"))
            return
        }
        if var known = refused[reason] {
            known.detail = detail
            known.count += 1
            refused[reason] = known
        } else {
            refused[reason] = Refused(detail: detail)
        }
        tellRefusals()
    }

    private func tellRefusals() {
        while let (reason, refusal) = refused.first, let viewer, viewer.hasRoom, refusalEvents.take(now: .now()) {
            refused[reason] = nil
            viewer.tell([ViewerEvent.refused(reason, refusal.detail, count: refusal.count)])
        }
    }

    /// Tells the viewer who controls the device, if that or something else about it has changed.
    private func tellChange() {
        // A full connection gets the state later.
        guard let viewer, viewer.hasRoom, let event = change() else { return }
        viewer.tell([event])
    }

    /// Returns the event for what has changed since the last one; `nil` if nothing has.
    func change() -> JSONValue? {
        let state = State(
            isMine: isMine,
            controller: broadcast?.control.holder,
            input: broadcast?.agent(session.inputRole).inputs,
            hasMicrophone: broadcast?.hasMicrophone ?? false,
            speaker: broadcast?.microphone.speaker,
            wasTaken: wasTaken
        )
        guard state != told else { return nil }
        told = state
        let why: String? = if case .mayNot(let why) = right { why } else { nil }
        return ViewerEvent.control(
            why: why,
            isMine: state.isMine,
            controller: state.controller?.description,
            input: state.input,
            hasMicrophone: state.hasMicrophone,
            speaker: state.speaker?.description,
            wasTaken: state.wasTaken
        )
    }

    /// Writes an audit line, which never says what was typed or where.
    private func log(_ what: String) {
        var metadata: Logger.Metadata = [
            "call": "control by hand \(what)", "device": "\(session.device.name)", "session": "\(session.id)",
        ]
        if case .may(.key(let name)) = right { metadata["key"] = "\(name)" }
        if what == "lost" || what == "ended" {
            metadata["events"] = "\(events)"
            metadata["seconds"] = "\((NIODeadline.now() - since).seconds.rounded(places: 1))"
        }
        logger.notice(CallAudit.message, metadata: metadata)
    }
}

extension Session {
    /// The agent that acts on the screen for the session's viewers: the one whose pictures they see.
    var inputRole: AgentRole { source.current ?? source.watching ?? .primary }
}

extension ViewerInput {
    /// A step that needs what the input needs.
    fileprivate var needs: [InputStep] {
        switch self {
        case .move, .motion, .button, .scroll: [.pointerBy(dx: 0, dy: 0)]
        case .touch: [.touch(id: 0, phase: .cancel, x: 0, y: 0)]
        case .key, .text: [.text("")]
        case .claim, .leave, .beat, .release, .gamepad, .speech, .unknown: []
        }
    }
}
