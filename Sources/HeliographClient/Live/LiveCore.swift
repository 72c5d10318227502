import HeliographAPI
import NIOCore
import NIOPosix
import NIOWebSocket
import Synchronization

/// The life of a ``LiveSession``: its connections, one after the other, and what waits for the program.
final class LiveCore: Sendable {
    private struct State {
        var connection: LiveConnection?
        var isClosed = false
        var listens = false
        var facts: SessionFacts?
        var control: Control?
        var meter = LiveMeter(now: LiveCore.now)
        /// When something was last received, ns.
        var received = LiveCore.now
        /// Whether a picture came over the connection.
        var hasPictures = false
        /// When the connection was lost, ns; `nil` once pictures come again.
        var interrupted: UInt64?
        var claims: [EventLoopPromise<Void>] = []
        var life: Task<Void, Never>?
    }

    /// How long the relay may take to answer a claim of control.
    private static let answerTime = TimeAmount.seconds(10)

    private let video = Mailbox(UnitQueue())
    private let audio = Mailbox(UnitQueue())
    private let events = Mailbox(EventQueue())

    private let place: LivePlace
    private let state = Mutex(State())

    private init(_ place: LivePlace) { self.place = place }

    /// The monotonic clock, ns.
    private static var now: UInt64 { NIODeadline.now().uptimeNanoseconds }

    var facts: SessionFacts? { state.withLock { $0.facts } }
    var control: Control? { state.withLock { $0.control } }

    /// Connects, and stays connected until it is closed or the relay refuses.
    static func connect(to place: LivePlace) async throws(RelayError) -> LiveCore {
        let core = LiveCore(place)
        let first = try await core.open()
        let life = Task { await core.live(first, Reconnection(mayReturn: place.mayReturn)) }
        core.state.withLock { $0.life = life }
        return core
    }

    func close() { finish(.success(()), keepsUnits: false) }

    // MARK: Connections

    private func open() async throws(RelayError) -> LiveConnection {
        let connection = try await LiveConnection.open(place) { [weak self] in self?.received($0, $1) }
        let (isClosed, listens) = state.withLock { state in
            guard !state.isClosed else { return (true, false) }
            state.connection = connection
            (state.received, state.hasPictures) = (Self.now, false)
            return (false, state.listens)
        }
        if isClosed { connection.close() }
        if listens { connection.post(.text, Self.listening(true)) }
        // The program may have changed its mind meanwhile.
        if listens, !state.withLock({ $0.listens }) { connection.post(.text, Self.listening(false)) }
        return connection
    }

    private func live(_ first: LiveConnection, _ policy: Reconnection) async {
        var (connection, policy) = (Optional(first), policy)
        while true {
            let loss: Reconnection.Loss
            if let current = connection {
                loss = await current.end()
                if lost() { policy.succeeded() }
            } else {
                do throws(RelayError) {
                    connection = try await open()
                    continue
                } catch {
                    loss = .failed(error)
                }
            }
            connection = nil
            guard !state.withLock({ $0.isClosed }) else { return }
            switch policy.next(after: loss, url: place.target.url) {
            case .end(let error):
                return finish(error.kind == .ended ? .success(()) : .failure(error), keepsUnits: true)
            case .retry(let pause, let error):
                if case .failed = loss {} else { tell(.interrupted(error)) }
                try? await Task.sleep(for: pause)
                guard !state.withLock({ $0.isClosed }) else { return }
            }
        }
    }

    /// Notes that the connection is lost.
    ///
    /// - Returns: Whether pictures came over it.
    private func lost() -> Bool {
        let (hadPictures, claims) = state.withLock { state in
            (state.connection, state.control) = (nil, nil)
            state.interrupted = state.interrupted ?? state.received
            state.meter.interrupted()
            defer { state.claims = [] }
            return (state.hasPictures, state.claims)
        }
        for claim in claims { claim.fail(Self.lostConnection) }
        return hadPictures
    }

    /// - Parameter keepsUnits: Whether the program can still take what waits.
    private func finish(_ end: Result<Void, RelayError>, keepsUnits: Bool) {
        let (connection, life, claims) = state.withLock { state in
            state.isClosed = true
            defer { (state.connection, state.life, state.claims) = (nil, nil, []) }
            return (state.connection, state.life, state.claims)
        }
        life?.cancel()
        connection?.close()
        for claim in claims { claim.fail(Self.closed) }
        video.finish(end, keepsElements: keepsUnits)
        audio.finish(end, keepsElements: keepsUnits)
        events.finish(end, keepsElements: keepsUnits)
    }

    private static let closed = RelayError(.closed, "the session was closed")
    private static let lostConnection = RelayError(.brokenOff, "the connection to the relay was lost")

    // MARK: What comes

    private func received(_ message: LiveMessage, _ now: UInt64) {
        let isOpen = state.withLock { state in
            state.received = now
            return !state.isClosed
        }
        guard isOpen else { return }
        switch message {
        case .unit(let unit): take(unit, now)
        case .event(let event): take(event, now)
        case .clock(let id, let relay): ask { $0.answered(id, relay: relay, now: now) }
        case .format, .size, .unknown: break
        }
    }

    private func take(_ unit: MediaUnit, _ now: UInt64) {
        guard case .picture = unit.content else {
            state.withLock { $0.meter.take(unit) }
            return audio.change { $0.append(unit) }
        }
        let (missed, connection) = state.withLock { state in
            state.meter.take(unit)
            state.hasPictures = true
            defer { state.interrupted = nil }
            let missed = state.interrupted.map { now - min(now, $0) }
            let isWanted = state.meter.target?.adapts == true && !unit.isRepeat
            return (missed, isWanted ? state.connection : nil)
        }
        connection?.post(.text, Array(#"{"type":"received","pts":\#(unit.pts)}"#.utf8))
        if let missed { tell(.resumed(missed: .nanoseconds(Int64(clamping: missed)))) }
        video.change { $0.append(unit) }
    }

    private func take(_ event: LiveEvent, _ now: UInt64) {
        switch event {
        case .connected(let facts):
            state.withLock { $0.facts = facts }
            ask { $0.ask(now: now) }
        case .statistics: ask { $0.ask(now: now) }
        case .target(let target): state.withLock { $0.meter.target = target }
        case .feed(let feed): state.withLock { $0.meter.feed = feed }
        case .control(let control): take(control)
        // Speech that came too late says nothing about control.
        case .refused(let refusal) where refusal.reason != "rate":
            end(claims: .failure(RelayError(.refused, refusal.detail, code: refusal.reason)))
        case .dropped(let count): video.change { $0.miss(count) }
        default: break
        }
        tell(event)
    }

    private func take(_ control: Control) {
        let connection = state.withLock { state in
            state.control = control
            return state.connection
        }
        connection?.setBeating(control.isMine)
        if control.isMine {
            end(claims: .success(()))
        } else if !control.may {
            end(claims: .failure(Self.forbidden(control)))
        }
    }

    private func tell(_ event: LiveEvent) { events.change { $0.append(event) } }

    private func end(claims result: Result<Void, RelayError>) {
        let claims = state.withLock { state in
            defer { state.claims = [] }
            return state.claims
        }
        for claim in claims { claim.completeWith(result.mapError { $0 }) }
    }

    private static func forbidden(_ control: Control) -> RelayError {
        RelayError(
            .refused,
            "you may not act on the device: \(control.why ?? "it gives no reason")",
            code: "forbidden"
        )
    }

    /// Sends a question for the relay's clock if one is due.
    private func ask(_ next: (inout RelayClock) -> Int?) {
        let (question, connection) = state.withLock { (next(&$0.meter.clock), $0.connection) }
        if let question { connection?.post(.text, Array(#"{"type":"clock","id":\#(question)}"#.utf8)) }
    }

    // MARK: What the program takes

    func nextPicture() async throws(RelayError) -> MediaUnit? {
        if video.change({ $0.want() }) { requestKeyframe() }
        return try await video.next()
    }

    func nextSound() async throws(RelayError) -> MediaUnit? { try await audio.next() }

    func nextEvent() async throws(RelayError) -> LiveEvent? { try await events.next() }

    func statistics() -> LiveStatistics {
        let dropped = video.change { $0.dropped } + audio.change { $0.dropped }
        return state.withLock { $0.meter.statistics(now: Self.now, dropped: dropped) }
    }

    // MARK: What the program sends

    private static func listening(_ listens: Bool) -> [UInt8] { Array(#"{"type":"audio","on":\#(listens)}"#.utf8) }
    private static let keyframe = Array(#"{"type":"keyframe"}"#.utf8)

    /// Asks for sound, or for no more, on this connection and later ones.
    func listen(_ listens: Bool) {
        let connection = state.withLock { state in
            defer { state.listens = listens }
            return state.listens == listens ? nil : state.connection
        }
        connection?.post(.text, Self.listening(listens))
    }

    func requestKeyframe() { state.withLock { $0.connection }?.post(.text, Self.keyframe) }

    func decoded(_ unit: MediaUnit) { state.withLock { $0.meter.decoded(unit, now: Self.now) } }

    func presented(_ unit: MediaUnit) {
        let now = Self.now
        let (told, connection) = state.withLock { ($0.meter.presented(unit, now: now), $0.connection) }
        guard let told else { return }
        connection?.post(.text, Array(#"{"type":"ack","pts":\#(unit.pts),"presented":\#(told)}"#.utf8))
    }

    func send(_ messages: [[UInt8]]) async throws(RelayError) {
        let (connection, isClosed) = state.withLock { ($0.connection, $0.isClosed) }
        guard let connection else { throw isClosed ? Self.closed : Self.lostConnection }
        for message in messages { try await connection.send(.binary, message) }
    }

    func takeControl(takes: Bool) async throws(RelayError) {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let claim = loop.makePromise(of: Void.self)
        let known = state.withLock { state in
            state.claims.append(claim)
            return state.control
        }
        let late = RelayError.late(place.target.url)
        let deadline = loop.scheduleTask(in: Self.answerTime) { claim.fail(late) }
        defer { deadline.cancel() }
        if let known, !known.may { claim.fail(Self.forbidden(known)) }
        do throws(RelayError) { try await send([Input.claim(takes: takes)]) } catch { claim.fail(error) }
        do {
            try await withTaskCancellationHandler {
                try await claim.futureResult.get()
            } onCancel: {
                claim.fail(RelayError(.cancelled, "the task was cancelled"))
            }
        } catch {
            throw error as? RelayError ?? late
        }
    }
}
