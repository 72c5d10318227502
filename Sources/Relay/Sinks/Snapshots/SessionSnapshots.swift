import NIOCore
import Wire

/// What a snapshot is like.
struct SnapshotKind: Sendable, Hashable {
    let format: SnapshotFormat
    /// The longest side in units of 16 pixels, of a small one, which is upright; 0 for the session's own picture.
    let side: UInt8

    static let jpeg = Self(.jpeg)
    /// What storyboards have.
    static let preview = Self(.jpeg, longestSide: 320)

    /// - Parameter longestSide: The longest side in pixels, rounded down to a multiple of 16; `nil` for the session's
    ///   own picture.
    init(_ format: SnapshotFormat, longestSide: Int? = nil) {
        self.format = format
        side = longestSide.map { max(1, UInt8(clamping: $0 / 16)) } ?? 0
    }

    /// Whether it is smaller than the session's picture. If so, it wakes no encoder.
    var isSmall: Bool { side > 0 }
}

/// A session's snapshots: requests them from the agent that feeds it, and hands the answers to all callers.
@MediaLoop
final class SessionSnapshots: Sink {
    typealias Outcome = Result<KeptSnapshot, SnapshotFailure>

    /// The greatest age of a snapshot for a caller that did not ask for a fresh one.
    static let sharingTime = TimeAmount.seconds(1)
    /// The time limit for an agent's answer.
    static let answerTime = TimeAmount.seconds(5)
    /// The JPEG quality. At this value text stays legible.
    private static let quality: UInt8 = 85
    /// The quality of small ones.
    private static let smallQuality: UInt8 = 70

    /// Asks the agent that feeds the session, and returns its role; `nil` if there is none.
    private let ask: @MediaLoop (SnapshotRequest) -> AgentRole?
    /// Wakes the session, and returns whether an agent is about to feed it.
    private let wakes: @MediaLoop () -> Bool
    /// How many callers may wait for snapshots at once.
    var maximumWaiting: Int

    private var rounds: [SnapshotKind: SnapshotRounds] = [:]
    /// The pending requests, by id.
    private var requests: [UInt32: (kind: SnapshotKind, role: AgentRole, timer: Scheduled<Void>)] = [:]
    private var waiting: [SnapshotKind: [SnapshotRounds.Round: Waiters<Outcome>]] = [:]
    private var lastRequest: UInt32 = 0
    private var waitingCount = 0
    /// How many of the waiting callers need the session to be awake.
    private var wakers = 0
    /// How many of the waiting callers count as a use of the session.
    private var uses = 0
    private var ended = false
    /// Whether snapshots wait until an agent feeds the session.
    private var awaitsFeed = false

    private(set) var requested: UInt64 = 0
    private(set) var received: UInt64 = 0

    /// Creates a session's snapshots.
    ///
    /// - Parameter maximumWaiting: How many callers may wait for snapshots at once.
    init(
        maximumWaiting: Int,
        wakes: @escaping @MediaLoop () -> Bool,
        ask: @escaping @MediaLoop (SnapshotRequest) -> AgentRole?
    ) {
        self.maximumWaiting = maximumWaiting
        self.wakes = wakes
        self.ask = ask
    }

    // MARK: Sink

    var demand: Demand { wakers > 0 ? Demand(video: .changes) : .none }

    /// Whether a waiting caller counts as a use of the session. A mere preview does not.
    var isUse: Bool { uses > 0 }

    func take(_ item: StreamItem) {
        switch item {
        case .unit(let unit): if unit.isVideo { fed() }
        case .end: end()
        case .feed, .sourceLost, .tracks: break
        }
    }

    // MARK: Snapshots

    /// Returns a snapshot requested at `since` or later.
    ///
    /// - Parameters:
    ///   - isFresh: Whether its frame must be captured after `since` too, if the screen has changed.
    ///   - isUse: Whether the wait counts as a use of the session.
    func snapshot(
        _ kind: SnapshotKind,
        since: NIODeadline,
        isFresh: Bool = false,
        isUse: Bool = false
    ) async -> Outcome {
        guard !ended else { return .failure(.ended) }
        guard waitingCount < maximumWaiting else { return .failure(.tooManyWait(limit: maximumWaiting)) }
        let round: SnapshotRounds.Round
        switch rounds[kind, default: SnapshotRounds()].join(since: since, isFresh: isFresh) {
        case .kept(let snapshot): return .success(snapshot)
        case .waits(let number): round = number
        }
        let waiters = waiting[kind, default: [:]][round] ?? Waiters()
        waiting[kind, default: [:]][round] = waiters
        let ticket = waiters.ticket()
        let (use, waker) = (isUse ? 1 : 0, kind.isSmall ? 0 : 1)
        (waitingCount, uses, wakers) = (waitingCount + 1, uses + use, wakers + waker)
        defer { (waitingCount, uses, wakers) = (waitingCount - 1, uses - use, wakers - waker) }
        begin(kind)
        return await waiters.wait(ticket, until: .now() + Self.answerTime) ?? .failure(.timeout(Self.answerTime))
    }

    func received(_ snapshot: Snapshot, from role: AgentRole) {
        guard let request = requests[snapshot.request], request.role == role,
            let asked = rounds[request.kind]?.asked(snapshot.request)
        else { return }
        switch snapshot.outcome {
        case .refusal(let refusal):
            end(snapshot.request, with: .failure(.refused(refusal)))
        case .picture(let picture):
            guard picture.format == request.kind.format else {
                return end(snapshot.request, with: .failure(.refused(.failed)))
            }
            received += 1
            end(snapshot.request, with: .success(KeptSnapshot(picture, asked: asked)))
        }
    }

    /// Starts the waiting snapshots when an agent begins to feed the session. They are fresh, because the agent's
    /// newest frame may predate its wake.
    private func fed() {
        guard awaitsFeed else { return }
        awaitsFeed = false
        for kind in Array(rounds.keys) { begin(kind, isFresh: true) }
    }

    /// Fails the requests that were sent to an agent that is gone.
    func agentLost(_ role: AgentRole) {
        for (id, request) in requests where request.role == role { end(id, with: .failure(.noSource)) }
        guard awaitsFeed else { return }
        awaitsFeed = false
        for kind in Array(rounds.keys) { begin(kind) }
    }

    /// Fails all waiting callers when the session ends.
    private func end() {
        ended = true
        for id in requests.keys { end(id, with: .failure(.ended)) }
        // Callers in rounds that had not begun.
        for waiters in waiting.values.flatMap(\.values) { waiters.resume(with: .failure(.ended)) }
        waiting = [:]
    }

    /// Asks the agent if a round is wanted and none is pending.
    ///
    /// - Parameter isFresh: Whether the picture must be fresh even if no caller asked for that.
    private func begin(_ kind: SnapshotKind, isFresh: Bool = false) {
        guard !ended, rounds[kind]?.isDue == true else { return }
        guard kind.isSmall || !wakes() else {
            awaitsFeed = true
            return
        }
        guard let wantsFresh = rounds[kind]?.begin(request: lastRequest + 1, now: .now()) else { return }
        lastRequest += 1
        let id = lastRequest
        let request = SnapshotRequest(
            id: id,
            format: kind.format,
            quality: kind.isSmall ? Self.smallQuality : Self.quality,
            // The newest frame of an agent that encodes nothing may be old.
            isFresh: isFresh || wantsFresh || kind.isSmall,
            side: kind.side
        )
        guard let role = ask(request) else {
            return finish(kind, with: .failure(.noSource))
        }
        requested += 1
        let timer = MediaLoop.schedule(at: .now() + Self.answerTime) { [weak self] in
            self?.end(id, with: .failure(.timeout(Self.answerTime)))
        }
        requests[id] = (kind, role, timer)
    }

    /// Ends a request, and begins the next one for the callers that came too late for it.
    private func end(_ id: UInt32, with outcome: Outcome) {
        guard let request = requests.removeValue(forKey: id) else { return }
        request.timer.cancel()
        finish(request.kind, with: outcome)
        begin(request.kind)
    }

    private func finish(_ kind: SnapshotKind, with outcome: Outcome) {
        guard let round = rounds[kind]?.end(with: try? outcome.get()) else { return }
        waiting[kind]?.removeValue(forKey: round)?.resume(with: outcome)
        guard case .success = outcome else { return }
        // Large files are dropped once no caller can use them.
        MediaLoop.schedule(at: .now() + Self.sharingTime) { [weak self] in
            self?.rounds[kind]?.forget(before: .now() - Self.sharingTime)
        }
    }
}

extension Session {
    /// Returns a snapshot requested at `since` or later.
    ///
    /// - Parameters:
    ///   - isFresh: Whether its frame must be captured after `since` too, if the screen has changed.
    ///   - isUse: Whether the wait counts as a use of the session.
    func snapshot(
        _ kind: SnapshotKind,
        since: NIODeadline,
        isFresh: Bool,
        isUse: Bool
    ) async throws(SnapshotFailure) -> KeptSnapshot {
        if isFresh, source.current != nil, stream.feed == .none { throw .sourceLost }
        return try await snapshots.snapshot(kind, since: since, isFresh: isFresh, isUse: isUse).get()
    }
}
