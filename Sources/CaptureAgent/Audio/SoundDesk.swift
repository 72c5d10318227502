package import Media
import Synchronization
package import Wire

/// Captures the device's sound while the relay wants it, in a thread of its own.
package final class SoundDesk: Sendable {
    private struct State: Sendable {
        var order = Listen(.off)
        var link: Link?
        var told = Told()
        /// Whether there is an encoder of AAC; `nil` until the relay asks for it.
        var aac: Result<Void, SoundEncoderError>?

        /// What a link is told.
        func report(to link: Link) -> DeviceTracks {
            let tracks = SoundFlow.tracks.filter { track in
                guard track.soundCodec == .aac else { return true }
                if case .failure = aac { return false }
                return link.takesAAC
            }
            var report = DeviceTracks(tracks, problem: told.problem, captures: told.captures ? true : nil)
            guard link.takesAAC else { return report }
            switch aac {
            case .success: report.encodesAAC = true
            case .failure(let error): (report.encodesAAC, report.aacProblem) = (false, error.reason)
            case nil: break
            }
            return report
        }
    }

    /// What the relay is told beside the codecs.
    private struct Told: Sendable, Equatable {
        /// Why sound cannot be captured now.
        var problem: String?
        var captures = false
    }

    /// How a link carries sound.
    package struct Link: Sendable {
        /// Whether the relay takes AAC.
        package var takesAAC: Bool
        package var tell: @Sendable (DeviceTracks) -> Void
        package var send: @Sendable (AccessUnit) -> Void

        package init(
            takesAAC: Bool,
            tell: @escaping @Sendable (DeviceTracks) -> Void,
            send: @escaping @Sendable (AccessUnit) -> Void
        ) {
            (self.takesAAC, self.tell, self.send) = (takesAAC, tell, send)
        }
    }

    private static let nodeNotLinked = SourceError.timeout(
        cause: "audio_not_linked",
        detail: "PipeWire did not link the capture to its node. The agent tries again."
    )
    /// How long PipeWire may take to link the capture, and how often the agent looks, then and later, in ns.
    private static let linkingTime: UInt64 = .milliseconds(1_000)
    private static let (look, laterLook) = (UInt64.milliseconds(50), UInt64.milliseconds(2_000))
    /// The least time between a capture's end and the next one, in ns. PipeWire 0.3.65 leaves players unheard if the
    /// graph's step becomes long and short again within some 20 ms.
    private static let rest: UInt64 = .milliseconds(250)
    /// The pauses between attempts to open a source, in ns.
    private static let (firstPause, longestPause) = (UInt64.milliseconds(100), UInt64.milliseconds(1_000))

    private let choice: SoundChoice
    private let coding: SoundCoding
    private let sinkName: String
    private let makesSink: Bool
    private let changed: Event
    private let state = Mutex(State())
    /// Locked after `state`, never before it.
    private let flow: Mutex<SoundFlow>

    /// - Parameters:
    ///   - choice: Not `off`.
    ///   - device: The device's name.
    ///   - makesSink: Whether it makes the sink of the choice `virtual`. Two agents must not make two.
    package init(
        _ choice: SoundChoice,
        _ coding: SoundCoding,
        device: String,
        makesSink: Bool
    ) throws(ResourceShortage) {
        (self.choice, self.coding) = (choice, coding)
        self.makesSink = makesSink && choice == .virtual
        sinkName = "heliograph-\(device)"
        changed = try Event()
        flow = Mutex(SoundFlow(coding))
    }

    // MARK: The link's side

    /// Tells a new link about the device's tracks.
    package func attach(_ link: Link) {
        state.withLock { state in
            state.link = link
            // Under the lock, so that reports stay in order.
            link.tell(state.report(to: link))
        }
    }

    /// Ends all capture, because the link has ended.
    package func detach() {
        take(Listen(.off))
        state.withLock { $0.link = nil }
    }

    /// Follows an order of the relay.
    package func take(_ order: Listen) {
        // Before any lock, because it loads libavcodec.
        let aac = order.wanted.contains(.aac) && state.withLock({ $0.aac == nil }) ? tryAAC() : nil
        state.withLock { state in
            state.order = order
            if let aac { state.aac = aac }
            // The relay forgets it with each order that ends the capture, which may go on meanwhile.
            if aac != nil || order.mode != .off && state.told.captures {
                state.link.map { $0.tell(state.report(to: $0)) }
            }
        }
        flow.withLock { flow in
            switch order.mode {
            case .off: flow.stop()
            case .ready: flow.keep()
            case .send: flow.send(order, now: MonotonicClock.now)
            }
        }
        while send({ $0.catchUp() }) {}
        changed.set()
    }

    private func tryAAC() -> Result<Void, SoundEncoderError> {
        do throws(SoundEncoderError) {
            _ = try SoundCodec.aac.encoder(coding)
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    /// Sends what the flow makes.
    ///
    /// - Returns: Whether it has made anything, even if nothing of it is sent yet.
    @discardableResult
    private func send(_ make: (SoundFlow) -> [AccessUnit]?) -> Bool {
        let link = state.withLock { $0.link }
        return flow.withLock { flow in
            guard let units = make(flow) else { return false }
            // Under the lock, so that units stay in order.
            for unit in units { link?.send(unit) }
            return true
        }
    }

    // MARK: The capture's side

    /// Captures as the relay orders, until `stop` is set.
    package func run(stop: Event) {
        var sink: VirtualSink?
        defer { sink?.remove() }
        var (pause, restsUntil) = (Self.firstPause, UInt64(0))
        while !stop.isSet {
            changed.clear()
            do throws(SourceError) {
                if makesSink, sink == nil { sink = try VirtualSink(named: sinkName) }
                let ends = [stop] + [sink?.ended].compactMap(\.self)
                if state.withLock({ $0.order.mode }) == .off {
                    report(Told())
                    _ = Event.wait(forAnyOf: ends + [changed], until: nil)
                } else {
                    _ = Event.wait(forAnyOf: ends, until: restsUntil)
                    defer { restsUntil = MonotonicClock.now + Self.rest }
                    try capture(until: ends)
                }
                pause = Self.firstPause
            } catch {
                // A node that ends the capture at once must not be asked ten times a second.
                if state.withLock({ $0.told.captures }) { pause = Self.firstPause }
                report(Told(problem: error.detail))
                // The sink may have been removed.
                if error.cause == SoundTarget.missing {
                    sink?.remove()
                    sink = nil
                }
                _ = Event.wait(forAnyOf: [stop, changed], until: MonotonicClock.now + pause)
                pause = min(pause * 2, Self.longestPause)
            }
            if sink?.ended.isSet == true {
                sink?.remove()
                sink = nil
            }
        }
    }

    /// Captures until one of the events is set, or the relay wants nothing any more.
    private func capture(until events: [Event]) throws(SourceError) {
        let connection = try PipeWireConnection(to: .session, isRealTime: true)
        let node = choice == .virtual ? .sink(sinkName) : choice
        let target: SoundTarget
        do throws(SourceError) {
            target = try SoundTarget(node, among: try connection.globals())
        } catch {
            connection.shutDown()
            throw error
        }
        let handler = SoundCapture.Handler { [weak self] values, instant in
            self?.send { $0.take(values, at: instant) }
        } idle: { [weak self] in
            self?.send { $0.idle() }
            // The link may have gone.
            self?.changed.set()
        }
        let capture = try SoundCapture(connection, target: target, latency: coding.packet.samples, handler: handler)
        defer {
            capture.shutDown()
            send { $0.idle() }
            report(Told())
        }
        var (begin, lookAt) = (MonotonicClock.now, UInt64?.some(0))
        while state.withLock({ $0.order.mode }) != .off {
            let now = MonotonicClock.now
            if let time = lookAt, now >= time {
                if try capture.isLinked() {
                    report(Told(captures: true))
                    lookAt = nil
                } else if now < begin + Self.linkingTime {
                    lookAt = now + Self.look
                } else {
                    // Session managers try only once to link a stream to a node that it names.
                    guard target.serial == nil else { throw Self.nodeNotLinked }
                    report(Told(problem: SoundCapture.noSink))
                    lookAt = now + Self.laterLook
                }
            }
            _ = Event.wait(forAnyOf: events + [changed, capture.ending.event], until: lookAt)
            if events.contains(where: \.isSet) { return }
            if capture.ending.isOver {
                throw capture.ending.error ?? .lost(cause: "audio_error", detail: "PipeWire ended the sound.")
            }
            if changed.isSet, lookAt == nil { (begin, lookAt) = (MonotonicClock.now, 0) }
            changed.clear()
        }
    }

    /// Tells the relay whether sound is captured, and why not, if that has changed.
    private func report(_ told: Told) {
        state.withLock { state in
            guard state.told != told else { return }
            state.told = told
            state.link.map { $0.tell(state.report(to: $0)) }
        }
    }
}
