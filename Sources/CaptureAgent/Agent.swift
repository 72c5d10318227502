package import Logging
import Media
import Program
import Synchronization
import Wire

import func Glibc.getpid

/// A capture agent: one source, one link to the relay, and a pipeline for every session that the relay asks for.
///
/// The source stays open while the relay is away. Sessions belong to the link and end with it.
package final class Agent: Sendable {
    /// Why the agent ended.
    package enum Ending: Sendable, Equatable {
        /// The relay said STOP, or ``stop()`` was called.
        case stopped
        /// The relay refused the agent.
        case refused(String)
        /// The relay stayed away too long.
        case relayAway(String)
    }

    /// What serves every link, as long as the agent lives.
    private struct Desks {
        let access: any InputAccess
        let inputs: InputDesk
        let clipboard: ClipboardDesk
        /// `nil` if the device's sound is off.
        let sound: SoundDesk?
        /// `nil` without a microphone.
        let speech: SpeechDesk?
    }

    private static let helloTimeout: UInt64 = .milliseconds(5_000)
    private static let firstPause: UInt64 = .milliseconds(100)
    private static let longestPause: UInt64 = .milliseconds(2_000)
    /// The lifetime of a link, in ns, after which reconnecting starts with the shortest pause again.
    private static let healthyLink: UInt64 = .milliseconds(1_000)

    private let configuration: AgentConfiguration
    private let logger: Logger
    private let stopEvent: Event
    private let screen: Screen
    private let catalogue: EncoderCatalogue
    private let launches = Launches()
    /// Of the gamepad of whichever link there is, so that a link needs no descriptor but its own.
    private let gamepadChanged: Event

    package init(configuration: AgentConfiguration, logger: Logger) throws(ResourceShortage) {
        stopEvent = try Event()
        gamepadChanged = try Event()
        self.configuration = configuration
        self.logger = logger
        let screen = Screen()
        self.screen = screen
        catalogue = EncoderCatalogue(
            entries: EncoderEntry.listed,
            resolve: EncoderEntry.libav(named:),
            changed: { screen.encodersProbed($0) }
        )
    }

    /// Ends the agent. Safe to call from any thread.
    package func stop() {
        stopEvent.set()
    }

    /// Waits until the agent is told to end, or ends.
    package func waitForStop() {
        stopEvent.wait()
    }

    /// Serves the relay until the agent must end, and returns why it ended.
    ///
    /// - Throws: `ResourceShortage` if the system refuses a thread or a descriptor at the start.
    package func run() throws(ResourceShortage) -> Ending {
        let source = makeSource()
        // In a separate thread, because some drivers take seconds to report that they have no device.
        let probing = try WorkerThread(name: "encoder-probe") { [catalogue, stopEvent] in
            catalogue.probeAll(stop: stopEvent)
        }
        defer {
            stopEvent.set()
            probing.join()
        }
        let supervisor = try SourceSupervisor(source: source, demand: screen.demand, sink: screen, logger: logger)
        defer { supervisor.shutDown() }
        // Sessions hold frames of the source, so their threads must finish first.
        defer { screen.waitForEnds() }
        let slate = configuration.role == .standby ? try startSlate() : nil
        defer {
            stopEvent.set()
            slate?.join()
        }
        let choice = InputBackendChoice(
            configuration.source,
            configuration.input,
            role: configuration.role,
            screen: screen
        )
        let consent = try choice.isPortal ? PortalConsent(timeout: UInt64(configuration.consentTimeout * 1e9)) : nil
        let access: any InputAccess = if let consent { consent } else { choice }
        let clipboard = try ClipboardDesk(ClipboardBackendChoice(configuration.source), stop: stopEvent) {
            access.refusal()
        }
        let clipboardThread = try WorkerThread(name: "clipboard") { clipboard.run() }
        defer {
            stopEvent.set()
            clipboardThread.join()
        }
        // The standby makes none, because programs would have two to choose from.
        let hasMicrophone = configuration.hasMicrophone && configuration.role == .primary
        let speech = hasMicrophone ? SpeechDesk(device: configuration.device) : nil
        let inputs = try InputDesk(access) { capabilities in
            capabilities.clipboard = clipboard.isAvailable
            capabilities.microphone = speech?.isAvailable
            capabilities.gamepads = access.refusal() == nil ? GamepadDiagnosis.possible : []
            capabilities.resize = access.canResize
        }
        let asking = try startAsking(consent, inputs)
        defer {
            stopEvent.set()
            asking?.join()
        }
        let speechThread = try speech.map { desk throws(ResourceShortage) in
            try WorkerThread(name: "microphone") { [stopEvent] in
                desk.run(stop: stopEvent) { inputs.desktopChanged() }
            }
        }
        defer {
            stopEvent.set()
            speechThread?.join()
        }
        let sound = try makeSoundDesk()
        let soundThread = try sound.map { desk throws(ResourceShortage) in
            try WorkerThread(name: "sound") { [stopEvent] in desk.run(stop: stopEvent) }
        }
        defer {
            stopEvent.set()
            soundThread?.join()
        }
        let inputThread = try WorkerThread(name: "input") { [screen] in inputs.run(screen.inputSubject(of:)) }
        defer {
            inputs.close()
            inputThread.join()
        }
        let desks = Desks(access: access, inputs: inputs, clipboard: clipboard, sound: sound, speech: speech)
        var lastSeen = MonotonicClock.now
        var pause = Self.firstPause
        while true {
            var decoder = PacketDecoder(accepting: .relayToAgent)
            let attempted = MonotonicClock.now
            let reason: LinkError
            do throws(LinkError) {
                let link = try connect(source: source, decoder: &decoder)
                logger.info("linked to the relay")
                reason = serve(link, desks, decoder: &decoder)
                lastSeen = MonotonicClock.now
                logger.info("link ended: \(reason)")
            } catch {
                reason = error
            }
            switch reason {
            case .rejected(let reject) where reject.code.isFinal: return .refused(reject.reason)
            case .rejected: lastSeen = MonotonicClock.now
            case .connection(.stopped): return .stopped
            default: break
            }
            let now = MonotonicClock.now
            let giveUp = lastSeen + UInt64(configuration.relayAbsence * 1e9)
            if now >= giveUp {
                launches.endAll { stopEvent.isSet }
                return .relayAway(reason.description)
            }
            if now - attempted > Self.healthyLink { pause = Self.firstPause }
            if stopEvent.wait(until: min(now + pause, giveUp)) { return .stopped }
            pause = min(pause * 2, Self.longestPause)
        }
    }

    private func startSlate() throws(ResourceShortage) -> WorkerThread {
        let loop = SlateLoop(screen: screen, delay: UInt64(configuration.slateDelay * 1e9))
        return try WorkerThread(name: "slate") { [stopEvent] in loop.run(until: stopEvent) }
    }

    /// Returns `nil` if the device's sound is off.
    private func makeSoundDesk() throws(ResourceShortage) -> SoundDesk? {
        guard configuration.sound != .off else { return nil }
        return try SoundDesk(
            configuration.sound,
            configuration.soundCoding,
            device: configuration.device,
            makesSink: configuration.role == .primary
        )
    }

    private func startAsking(_ consent: PortalConsent?, _ inputs: InputDesk) throws(ResourceShortage) -> WorkerThread? {
        guard let consent else { return nil }
        return try WorkerThread(name: "input-consent") { [stopEvent] in
            consent.run(stop: stopEvent) { inputs.desktopChanged() }
        }
    }

    // MARK: - Link

    private func connect(source: any FrameSource, decoder: inout PacketDecoder) throws(LinkError) -> RelayLink {
        try RelayLink(
            host: configuration.relayHost,
            port: configuration.relayPort,
            hello: Hello(
                token: configuration.token,
                device: configuration.device,
                source: source.kind,
                pid: getpid(),
                release: Release.current,
                role: configuration.role
            ),
            timeout: Self.helloTimeout,
            stop: stopEvent,
            decoder: &decoder
        )
    }

    /// Serves one link until it ends.
    private func serve(_ link: RelayLink, _ desks: Desks, decoder: inout PacketDecoder) -> LinkError {
        let snapshots = SnapshotDesk { link.send(.snapshot($0, link.takesInputs ? $1 : $1.withoutGeometry)) }
        let watches = WatchDesk {
            link.send(.watched($0, $1))
        } changed: { [screen] in
            screen.followSessions()
        }
        screen.attach(link, snapshots: snapshots, watches: watches, inputs: desks.inputs)
        defer { screen.detach() }
        do throws(ResourceShortage) {
            let applications = ApplicationDesk(launches, windows: WindowsChoice(configuration.source)) {
                link.send(.applicationDone($0))
            }
            defer { applications.close() }
            let gamepad = GamepadDesk(changed: gamepadChanged) { type throws(InputFailure) in
                if let refusal = desks.access.refusal() { throw .unsupported(refusal) }
                return try type.device()
            } send: {
                link.send(.gamepadFeedback($0))
            }
            let gamepadThread = try WorkerThread(name: "gamepad") { gamepad.run() }
            defer {
                gamepad.close()
                gamepadThread.join()
            }
            let watchThread = try WorkerThread(name: "watches") { [screen] in
                watches.run(screen.watchSubject(of:))
            }
            defer {
                watches.close()
                watchThread.join()
            }
            let snapshotThread = try WorkerThread(name: "snapshots") { [screen] in
                snapshots.run(screen.snapshotSubject(of:), answered: screen.followSessions)
            }
            defer {
                snapshots.close()
                snapshotThread.join()
            }
            let writer = try WorkerThread(name: "link-writer") { [self, screen] in
                link.writeLoop {
                    endIfHung()
                    return screen.heartbeat(linkQueuedBytes: $0, linkDrops: $1)
                }
            }
            defer {
                link.close()
                writer.join()
            }
            desks.inputs.attach { if link.takesInputs { link.send(.inputs($0)) } }
            desks.speech?.attach { link.send(.speechReport($0)) }
            defer { desks.speech?.detach() }
            if link.takesTracks {
                desks.sound?.attach(
                    SoundDesk.Link(takesAAC: link.takesAAC) {
                        link.send(.tracks($0))
                    } send: {
                        _ = link.send($0, session: 0)
                    }
                )
            }
            defer { desks.sound?.detach() }
            // First of all, what is held is released.
            defer { desks.inputs.detach() }
            return followOrders(link, desks, snapshots, watches, gamepad, applications, &decoder)
        } catch {
            return .shortage(error)
        }
    }

    /// Ends the agent if an ended session still hangs. The relay then starts another agent, which has all its encoders.
    private func endIfHung() {
        guard let session = screen.hungSession(now: MonotonicClock.now) else { return }
        logger.error("session \(session) does not end, its encoder hangs: the agent ends")
        stop()
    }

    /// Carries out the relay's packets until the link ends.
    private func followOrders(
        _ link: RelayLink,
        _ desks: Desks,
        _ snapshots: SnapshotDesk,
        _ watches: WatchDesk,
        _ gamepad: GamepadDesk,
        _ applications: ApplicationDesk,
        _ decoder: inout PacketDecoder
    ) -> LinkError {
        do {
            while true {
                switch try link.nextPacket(&decoder) {
                case .sessionAdd(let id, let parameters):
                    add(id, parameters, over: link)
                case .sessionUpdate(let id, let update):
                    if let problem = screen.updateSession(id, update) {
                        link.send(.sessionError(id, SessionFailure(code: .invalidParameters, reason: problem)))
                    }
                case .sessionRemove(let id):
                    screen.removeSession(id)
                    link.forget(id)
                case .keyframeRequest(let id, let request): screen.requestKeyframe(id, request)
                case .rested(let id, let rested): screen.rested(id, rested)
                case .snapshotRequest(let id, let request):
                    snapshots.take(request, of: id, patience: screen.snapshotPatience(of: id))
                    screen.followSessions()
                case .watch(let id, let watch): watches.take(watch, of: id)
                case .unwatch(_, let watch): watches.end(watch)
                case .input(let id, let order):
                    desks.inputs.take(order, of: id) { link.send(.inputDone(id, $0)) }
                case .clipboard(let order):
                    desks.clipboard.take(order) { link.send(.clipboardDone($0)) }
                case .gamepad(let order): gamepad.take(order)
                case .application(let order): applications.take(order)
                case .listen(let order): desks.sound?.take(order)
                case .speech(let packet): desks.speech?.take(packet)
                case .stop(let stop):
                    logger.info("the relay ends the agent: \(stop.reason)")
                    stopEvent.set()
                    return .connection(.stopped)
                case .reject(let reject):
                    return .rejected(reject)
                case let packet:
                    return .unexpected(packet.type)
                }
            }
        } catch {
            return error
        }
    }

    private func add(_ id: SessionID, _ parameters: SessionParameters, over link: RelayLink) {
        if let problem = parameters.problem {
            link.send(.sessionError(id, SessionFailure(code: .invalidParameters, reason: problem)))
        } else {
            screen.addSession(id, parameters, catalogue: catalogue, output: LinkOutput(link: link))
        }
    }

    // MARK: - Source

    private func makeSource() -> any FrameSource {
        switch configuration.source {
        case .auto(let content, let cursor):
            AutoSource(
                mutter: MutterSource(screen: MutterSource.Screen(content), cursor: cursor),
                portal: portalSource(content, cursor: cursor),
                screenshot: ScreenshotSource(target: ScreenshotTarget(cursor: cursor))
            )
        case .portal(let content, let cursor):
            portalSource(content, cursor: cursor)
        case .mutter(let screen, let cursor):
            MutterSource(screen: screen, cursor: cursor)
        case .node(let node):
            NodeSource(node: node)
        case .screenshot(let target):
            ScreenshotSource(target: target)
        case .testPattern(let size, let fps):
            TestPatternSource(size: size, fps: fps)
        }
    }

    private func portalSource(_ content: ScreenContent, cursor: CursorDrawing) -> PortalSource {
        PortalSource(
            content: content,
            cursor: cursor,
            tokenFile: RestoreTokenFile(
                stateDirectory: configuration.stateDirectory,
                device: configuration.device
            ),
            consentTimeout: UInt64(configuration.consentTimeout * 1e9),
            logger: logger
        )
    }
}

extension Snapshot {
    fileprivate var withoutGeometry: Snapshot {
        guard case .picture(var picture) = outcome else { return self }
        picture.geometry = 0
        return Snapshot(request: request, outcome: .picture(picture))
    }
}

/// Sends a session's access units over a link.
private struct LinkOutput: SessionOutput {
    let link: RelayLink

    func send(_ accessUnit: AccessUnit, session: SessionID) -> Bool {
        link.send(accessUnit, session: session)
    }

    func sessionFailed(_ session: SessionID, _ failure: SessionFailure) {
        link.send(.sessionError(session, failure))
    }

    func rest(_ session: SessionID, _ rest: Rest) -> Bool {
        guard link.takesRest else { return false }
        link.send(.rest(session, rest))
        return true
    }

    func wake(_ session: SessionID) {
        link.send(.wake(session))
    }
}
