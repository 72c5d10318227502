import NIOCore
import Wire

/// A session's snapshots: asks the agent that feeds it, and hands its answers to all who want them.
@MediaLoop
final class SessionSnapshots: Sink {
    typealias Outcome = Result<KeptSnapshot, SnapshotFailure>

    /// How old a snapshot may be that was not asked for as a fresh one.
    static let sharingTime = TimeAmount.seconds(1)
    /// How long the agent may take.
    static let answerTime = TimeAmount.seconds(5)
    /// Of JPEG: text stays legible.
    private static let quality: UInt8 = 85

    /// Asks the agent that feeds the session, and returns which it is; nil for none.
    private let ask: @MediaLoop (SnapshotRequest) -> AgentRole?
    /// Whether an agent is about to feed the session because it is wakened for this.
    private let wakes: @MediaLoop () -> Bool
    /// How many may wait for snapshots at once.
    var maximumWaiting: Int

    private var rounds: [SnapshotFormat: SnapshotRounds] = [:]
    /// The requests under way.
    private var requests: [UInt32: (format: SnapshotFormat, role: AgentRole, timer: Scheduled<Void>)] = [:]
    private var waiting: [SnapshotFormat: [SnapshotRounds.Round: Waiters<Outcome>]] = [:]
    private var lastRequest: UInt32 = 0
    private var waitingCount = 0
    /// Those of them that use the session.
    private var uses = 0
    private var ended = false
    /// Whether snapshots wait until an agent feeds the session.
    private var awaitsFeed = false

    private(set) var requested: UInt64 = 0
    private(set) var received: UInt64 = 0

    /// - Parameter maximumWaiting: How many may wait for snapshots at once.
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

    var demand: Demand { waitingCount > 0 ? Demand(video: .changes) : .none }

    /// A snapshot that is a mere glance is no use of the session.
    var isUse: Bool { uses > 0 }

    func take(_ item: StreamItem) {
        switch item {
        case .unit(let unit): if unit.isVideo { fed() }
        case .end: end()
        case .feed, .sourceLost, .tracks: break
        }
    }

    // MARK: Snapshots

    /// A snapshot that is asked for at `since` or later.
    ///
    /// - Parameters:
    ///   - isFresh: Whether its frame is to be captured after that as well, as far as the screen changes.
    ///   - isUse: Whether the session is in use while this is waited for.
    func snapshot(
        _ format: SnapshotFormat,
        since: NIODeadline,
        isFresh: Bool = false,
        isUse: Bool = false
    ) async -> Outcome {
        guard !ended else { return .failure(.ended) }
        guard waitingCount < maximumWaiting else { return .failure(.tooManyWait(limit: maximumWaiting)) }
        let round: SnapshotRounds.Round
        switch rounds[format, default: SnapshotRounds()].join(since: since, isFresh: isFresh) {
        case .kept(let snapshot): return .success(snapshot)
        case .waits(let number): round = number
        }
        let waiters = waiting[format, default: [:]][round] ?? Waiters()
        waiting[format, default: [:]][round] = waiters
        let ticket = waiters.ticket()
        (waitingCount, uses) = (waitingCount + 1, uses + (isUse ? 1 : 0))
        defer { (waitingCount, uses) = (waitingCount - 1, uses - (isUse ? 1 : 0)) }
        begin(format)
        return await waiters.wait(ticket, until: .now() + Self.answerTime) ?? .failure(.timeout(Self.answerTime))
    }

    func received(_ snapshot: Snapshot, from role: AgentRole) {
        guard let request = requests[snapshot.request], request.role == role,
            let asked = rounds[request.format]?.asked(snapshot.request)
        else { return }
        switch snapshot.outcome {
        case .refusal(let refusal):
            end(snapshot.request, with: .failure(.refused(refusal)))
        case .picture(let picture):
            guard picture.format == request.format else {
                return end(snapshot.request, with: .failure(.refused(.failed)))
            }
            received += 1
            end(snapshot.request, with: .success(KeptSnapshot(picture, asked: asked)))
        }
    }

    /// An agent feeds the session. The newest frame that it has may be from before it was wakened: the screen is looked at anew.
    private func fed() {
        guard awaitsFeed else { return }
        awaitsFeed = false
        for format in SnapshotFormat.allCases { begin(format, isFresh: true) }
    }

    /// What was asked of an agent that is gone will not come.
    func agentLost(_ role: AgentRole) {
        for (id, request) in requests where request.role == role { end(id, with: .failure(.noSource)) }
        guard awaitsFeed else { return }
        awaitsFeed = false
        for format in SnapshotFormat.allCases { begin(format) }
    }

    /// Answers all who wait: the session ends.
    private func end() {
        ended = true
        for id in requests.keys { end(id, with: .failure(.ended)) }
        // Those of rounds that had not begun.
        for waiters in waiting.values.flatMap(\.values) { waiters.resume(with: .failure(.ended)) }
        waiting = [:]
    }

    /// Asks the agent where a round is wanted and none is under way.
    ///
    /// - Parameter isFresh: Whether the picture is to be fresh even if nobody wants it to.
    private func begin(_ format: SnapshotFormat, isFresh: Bool = false) {
        guard !ended, rounds[format]?.isDue == true else { return }
        guard !wakes() else {
            awaitsFeed = true
            return
        }
        guard let wantsFresh = rounds[format]?.begin(request: lastRequest + 1, now: .now()) else { return }
        lastRequest += 1
        let id = lastRequest
        let request = SnapshotRequest(id: id, format: format, quality: Self.quality, isFresh: isFresh || wantsFresh)
        guard let role = ask(request) else {
            return finish(format, with: .failure(.noSource))
        }
        requested += 1
        let timer = MediaLoop.schedule(at: .now() + Self.answerTime) { [weak self] in
            self?.end(id, with: .failure(.timeout(Self.answerTime)))
        }
        requests[id] = (format, role, timer)
    }

    /// Ends a request, and begins the next one for those who came too late for it.
    private func end(_ id: UInt32, with outcome: Outcome) {
        guard let request = requests.removeValue(forKey: id) else { return }
        request.timer.cancel()
        finish(request.format, with: outcome)
        begin(request.format)
    }

    private func finish(_ format: SnapshotFormat, with outcome: Outcome) {
        guard let round = rounds[format]?.end(with: try? outcome.get()) else { return }
        waiting[format]?.removeValue(forKey: round)?.resume(with: outcome)
        guard case .success = outcome else { return }
        // A large file is not kept for longer than it is of use.
        MediaLoop.schedule(at: .now() + Self.sharingTime) { [weak self] in
            self?.rounds[format]?.forget(before: .now() - Self.sharingTime)
        }
    }
}

extension Session {
    /// A snapshot that is asked for at `since` or later.
    ///
    /// - Parameters:
    ///   - isFresh: Whether its frame is to be captured after that as well, as far as the screen changes.
    ///   - isUse: Whether the session is in use while it waits.
    func snapshot(
        _ format: SnapshotFormat,
        since: NIODeadline,
        isFresh: Bool,
        isUse: Bool
    ) async throws(SnapshotFailure) -> KeptSnapshot {
        if isFresh, source.current != nil, stream.feed == .none { throw .sourceLost }
        return try await snapshots.snapshot(format, since: since, isFresh: isFresh, isUse: isUse).get()
    }
}
