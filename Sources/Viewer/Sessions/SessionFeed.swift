package import CommandSupport
package import HeliographClient
import HeliographDecode
import NIOCore
import Synchronization

/// A session that the viewer watches: its newest frame, what is known of it, and its sound.
///
/// Its tasks connect, decode and listen. Any thread may ask it.
package final class SessionFeed: Sendable {
    /// How the session is.
    package enum Status: Sendable, Hashable {
        /// No picture has come yet.
        case connecting
        case live
        /// The connection is lost, and no picture has come since; the client tries again.
        case interrupted(String)
        /// It is over, or it cannot be watched.
        case ended(CommandError)
    }

    /// A frame, and the unit that it was decoded from.
    struct Picture: Sendable {
        let frame: Frame
        let unit: MediaUnit
        let geometry: UInt32
    }

    fileprivate struct State {
        var status = Status.connecting
        var tracks: [Track] = []
        var refusal: Refusal?
        /// What the relay said of this machine's gamepad, until the window takes it in.
        var gamepad: GamepadStatus?
        /// What the person should know, once.
        var news: String?
        /// The newest picture, until the window takes it.
        var newest: Picture?
        var lastFrame: Frame?
        var feed: LiveEvent.Feed?
        var live: LiveSession?
        /// What plays the session's sound; `nil` if it is not heard.
        var loudspeaker: Loudspeaker?
        /// Whether a task takes the sound.
        var listens = false
        var isClosed = false
        var tasks: [Task<Void, Never>] = []
        /// Asks for another size.
        var mode: Task<Void, Never>?
    }

    /// How long a picture may wait for the decoder, ns. Later ones are left out.
    private static let longestDelay: UInt64 = 500_000_000

    /// The session, for people.
    package let name: String
    private let screen: any Screen
    private let thread = DecoderThread()
    private let state = Mutex(State())
    /// Called when something is new.
    private let changed: @Sendable () -> Void

    package init(_ screen: any Screen, named name: String, changed: @escaping @Sendable () -> Void) {
        (self.screen, self.name, self.changed) = (screen, name, changed)
    }

    /// Begins to watch.
    package func start() {
        let task = Task { await watch() }
        state.withLock { $0.tasks.append(task) }
    }

    /// Stops watching.
    package func close() {
        let (live, tasks) = state.withLock { state in
            state.isClosed = true
            return (state.live, state.tasks + [state.mode].compactMap(\.self))
        }
        live?.close()
        for task in tasks { task.cancel() }
        thread.stop()
    }

    // MARK: What is known

    package var status: Status { state.withLock { $0.status } }
    /// The last decoded frame.
    var lastFrame: Frame? { state.withLock { $0.lastFrame } }
    /// Whether no agent sends pictures, so that the last one may no longer show the screen.
    var hasNoFeed: Bool { state.withLock { $0.feed == LiveEvent.Feed.none } }
    /// What a person must know of the session besides its picture; `nil` for nothing.
    var notice: String? {
        switch status {
        case .connecting: "Connecting to \(name)…"
        case .interrupted(let reason): "Showing the last picture. Connecting again…\n\(reason)"
        case .ended(let reason): reason.description
        case .live: hasNoFeed ? "Showing the last picture: the device sends none now." : nil
        }
    }

    /// The live session, once there is one.
    var live: LiveSession? { state.withLock { $0.live } }
    package var statistics: LiveStatistics? { live?.statistics }

    /// Returns the newest picture, once.
    func takeNewest() -> Picture? { take(\.newest) }

    /// Returns why the relay refused input since the last call.
    func takeRefusal() -> Refusal? { take(\.refusal) }

    /// Returns what the person should know since the last call.
    func takeNews() -> String? { take(\.news) }

    /// Returns what the relay said of this machine's gamepad since the last call.
    func takeGamepad() -> GamepadStatus? { take(\.gamepad) }

    private func take<Value: Sendable>(_ kept: WritableKeyPath<State, Value?>) -> Value? {
        state.withLock { state in
            defer { state[keyPath: kept] = nil }
            return state[keyPath: kept]
        }
    }

    /// Asks for pictures of another size.
    func requestMode(width: Int, height: Int) {
        let task = Task { [screen] in
            let news: String
            do throws(RelayError) {
                let change = try await screen.requestMode(width: width, height: height)
                news = "\(width)x\(height)" + (change.scalingReason == nil ? "" : ", scaled")
            } catch {
                guard error.kind != .cancelled else { return }
                news = "The size stays: \(error)"
            }
            state.withLock { $0.news = news }
            changed()
        }
        state.withLock { state in
            state.mode?.cancel()
            state.mode = task
        }
    }

    // MARK: Watching

    private func watch() async {
        do throws(RelayError) {
            let live = try await screen.watch()
            let isClosed = state.withLock { state in
                state.live = live
                return state.isClosed
            }
            defer { live.close() }
            guard !isClosed else { return }
            let events = Task { await follow(live) }
            defer { events.cancel() }
            try await Task(executorPreference: thread) { [self] in await decode(live) }.value.get()
            set(.ended(.failed("the session has ended")))
        } catch {
            if error.kind != .closed, error.kind != .cancelled { set(.ended(CommandError(error))) }
        }
    }

    /// Decodes pictures until the session ends, and returns how it ended.
    private func decode(_ live: LiveSession) async -> Result<Void, RelayError> {
        let decoder = PictureDecoder()
        var isBehind = false
        do throws(RelayError) {
            for try await unit in live.video {
                let isLate = NIODeadline.now().uptimeNanoseconds > unit.received &+ Self.longestDelay
                if isLate, !isBehind { live.requestKeyframe() }
                // A decoder that is too slow goes on at a keyframe.
                isBehind = (isBehind || isLate) && !unit.isKeyframe
                if !isBehind { try decode(unit, by: decoder, of: live) }
            }
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    private func decode(_ unit: MediaUnit, by decoder: PictureDecoder, of live: LiveSession) throws(RelayError) {
        guard case .picture(let format) = unit.content else { return }
        do throws(DecodeError) {
            guard let frame = try decoder.decode(unit) else { return }
            live.decoded(unit)
            let picture = Picture(frame: frame, unit: unit, geometry: format.geometry)
            state.withLock { state in
                (state.newest, state.lastFrame) = (picture, frame)
                if state.status == .connecting { state.status = .live }
            }
            changed()
        } catch {
            guard error == .damaged else { throw RelayError(ofDecoding: error) }
            live.requestKeyframe()
        }
    }

    private func follow(_ live: LiveSession) async {
        do throws(RelayError) {
            for try await event in live.events {
                state.withLock { $0.note(event) }
                changed()
            }
        } catch {
            // The pictures end likewise, and tell why.
        }
    }

    private func set(_ status: Status) {
        state.withLock { $0.status = status }
        changed()
    }

    // MARK: Sound

    /// Whether the session has sound.
    var hasSound: Bool { state.withLock { $0.tracks.contains { $0.kind == .audio } } }

    /// Begins to be heard, or stops if there is no loudspeaker.
    func hear(_ loudspeaker: Loudspeaker?) {
        // Most calls change nothing: the window makes one for each picture.
        let change = state.withLock { state in
            guard let live = state.live, state.loudspeaker !== loudspeaker else { return nil as Hearing? }
            defer { (state.loudspeaker, state.listens) = (loudspeaker, state.listens || loudspeaker != nil) }
            return Hearing(live: live, before: state.loudspeaker, listens: state.listens)
        }
        guard let change else { return }
        guard loudspeaker != nil else {
            change.before?.silence()
            return change.live.stopAudio()
        }
        let sound = change.live.audio
        guard !change.listens else { return }
        let task = Task { await listen(sound) }
        state.withLock { $0.tasks.append(task) }
    }

    /// What is heard before a change.
    private struct Hearing {
        let live: LiveSession
        let before: Loudspeaker?
        /// Whether a task takes the sound.
        let listens: Bool
    }

    private func listen(_ sound: LiveSession.Units) async {
        let decoder = SoundDecoder()
        var isHeard = false
        do throws(RelayError) {
            for try await unit in sound {
                let loudspeaker = state.withLock { $0.loudspeaker }
                if loudspeaker != nil, !isHeard { decoder.reset() }
                isHeard = loudspeaker != nil
                loudspeaker?.play(decoder.decode(unit), isEnd: unit.isSilent)
            }
        } catch {
            // The pictures end likewise, and tell why.
        }
    }
}

extension SessionFeed.State {
    fileprivate mutating func note(_ event: LiveEvent) {
        if case .ended = status { return }
        switch event {
        case .connected(let facts): tracks = facts.tracks
        case .interrupted(let error): status = .interrupted(CommandError(error).description)
        case .resumed: status = .live
        case .tracks(let tracks): self.tracks = tracks
        case .feed(let feed): self.feed = feed
        case .refused(let refusal): self.refusal = refusal
        case .gamepad(let status): gamepad = status
        default: break
        }
    }
}

extension RelayError {
    fileprivate init(ofDecoding error: DecodeError) { self.init(.notUnderstood, error.description) }
}
