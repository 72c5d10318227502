import Media
import Synchronization
package import Wire

/// Where the source's thread meets the sessions: the newest frame, the source's state, the sessions and the link.
package final class Screen: FrameSink {
    package let demand = SourceDemand(.none)
    private let turns = EncodingTurns()
    private let state = Mutex(ScreenState())

    package init() {}

    // MARK: - FrameSink

    package func receive(_ frame: CapturedFrame) {
        let arrival = MonotonicClock.now
        let (sessions, snapshots, previous) = state.withLock { state in
            // Released outside the lock: its buffer goes back to the source.
            let previous = state.newest
            state.newest = frame
            state.arrival = arrival
            state.slate = nil
            state.framesReceived += 1
            state.follow(frame)
            return (state.sessions, state.snapshots, previous)
        }
        for session in sessions { session.offer(frame, arrival: arrival) }
        snapshots?.frameArrived(captured: frame.captured)
        withExtendedLifetime(previous) {}
    }

    package func outdated() {
        let previous = state.withLock { state in
            defer { state.newest = nil }
            return state.newest
        }
        withExtendedLifetime(previous) {}
    }

    package func skippedBuffer() {
        state.withLock { $0.buffersSkipped += 1 }
    }

    package func copiedFrame() {
        state.withLock { $0.framesCopied += 1 }
    }

    package func sourceChanged(_ status: SourceStatus) {
        let now = MonotonicClock.now
        // Sent under the lock, or an older status could overtake this one.
        state.withLock { state in
            state.lostSince = status.state == .streaming ? nil : state.lostSince ?? now
            // What is known stays known: the size through a pause, the timings through the opening.
            var known = status
            known.kind = status.kind ?? state.status.kind
            if status.state != .lost {
                known.size = status.size ?? state.status.size
                known.orientation = status.orientation ?? state.status.orientation
                known.timings = status.timings ?? state.status.timings
            }
            state.status = known
            state.link?.send(.status(known))
        }
    }

    /// Takes in what is known of the encoders by now.
    func encodersProbed(_ reports: [EncoderReport]) {
        state.withLock { state in
            state.encoders = reports
            state.link?.send(.encoders(EncoderReports(encoders: reports)))
        }
    }

    // MARK: - Link

    /// Reports to `link` from now on, beginning with the source's state and the encoders, and tells `snapshots` of frames.
    func attach(_ link: RelayLink, snapshots: SnapshotDesk) {
        state.withLock { state in
            state.link = link
            state.snapshots = snapshots
            link.send(.status(state.status))
            if !state.encoders.isEmpty { link.send(.encoders(EncoderReports(encoders: state.encoders))) }
        }
    }

    /// Ends all sessions: they were the link's.
    func detach() {
        let sessions = state.withLock { state in
            defer { state.sessions = [] }
            state.dormant = [:]
            state.link = nil
            state.snapshots = nil
            return state.sessions
        }
        for session in sessions { end(session) }
        followSessions()
    }

    /// Waits until the threads of all sessions that have been told to end are done.
    func waitForEnds() {
        for ended in state.withLock({ $0.ending.ends }) { ended.wait() }
    }

    /// A session that was told to end 10 s ago or more and has not; nil where there is none.
    ///
    /// - Parameter now: Monotonic, ns.
    package func hungSession(now: UInt64) -> SessionID? { state.withLock { $0.ending.hung(now: now) } }

    /// Ends a session's pipeline without waiting for it: its encoder may hang, and the link's thread is not to.
    private func end(_ session: SessionPipeline) {
        session.stop()
        state.withLock { $0.ending.add(session.id, ended: session.ended, now: MonotonicClock.now) }
    }

    package func heartbeat(linkQueuedBytes: Int, linkDrops: [SessionID: UInt64]) -> Heartbeat {
        let now = MonotonicClock.now
        return state.withLock { state in
            Heartbeat(
                clock: now,
                framesReceived: state.framesReceived,
                buffersSkipped: state.buffersSkipped,
                framesCopied: state.framesCopied,
                linkQueuedBytes: linkQueuedBytes,
                sessions: state.sessions.map { session in
                    var figures = session.figures
                    figures.linkDrops = linkDrops[session.id] ?? 0
                    return figures
                }
            )
        }
    }

    // MARK: - Sessions

    /// Takes a session in and, when it is active, starts its pipeline from the newest frame. An id that is in use is replaced.
    package func addSession(
        _ id: SessionID,
        _ parameters: SessionParameters,
        catalogue: EncoderCatalogue,
        output: any SessionOutput
    ) {
        removeSession(id)
        let session = DormantSession(
            id: id,
            parameters: parameters,
            catalogue: catalogue,
            output: output,
            turns: turns
        )
        state.withLock { $0.dormant[id] = session }
        if parameters.isActive { start(session) }
    }

    package func removeSession(_ id: SessionID) {
        let removed = state.withLock { state in
            state.dormant[id] = nil
            return state.sessions.firstIndex { $0.id == id }.map { state.sessions.remove(at: $0) }
        }
        if let removed { end(removed) }
        followSessions()
    }

    /// Changes a session, which may start or end its pipeline. Returns what is out of range; then nothing changes.
    package func updateSession(_ id: SessionID, _ update: SessionUpdate) -> String? {
        let outcome: UpdateOutcome = state.withLock { state in
            guard let session = state.sessions.first(where: { $0.id == id }) else {
                if let problem = state.dormant[id]?.update(update) { return .refused(problem) }
                return state.dormant[id].flatMap { $0.parameters.isActive ? .starts($0) : nil } ?? .done
            }
            if let problem = session.update(update) { return .refused(problem) }
            if !session.parameters.isActive { return .ends(session) }
            // A screen that is static shows its new size too.
            if update.size != nil, let newest = state.newest { session.offer(newest) }
            return .done
        }
        switch outcome {
        case .done: followSessions()
        case .refused(let problem): return problem
        case .starts(let session): start(session)
        case .ends(let session): putToSleep(session)
        }
        return nil
    }

    private enum UpdateOutcome {
        case done
        case refused(String)
        case starts(DormantSession)
        case ends(SessionPipeline)
    }

    /// Asks for a keyframe that carries `request`; the first one of a session that is not active yet. One that the system has refused is started again.
    package func requestKeyframe(_ id: SessionID, _ request: UInt32) {
        let (session, refused) = state.withLock { state in
            state.dormant[id]?.request = request
            let refused = state.dormant[id].flatMap { $0.isRefused && $0.parameters.isActive ? $0 : nil }
            return (state.sessions.first { $0.id == id }, refused)
        }
        session?.requestKeyframe(request)
        if let refused { start(refused) }
    }

    /// Takes note that the relay has given a session back whose repeats it made.
    func rested(_ id: SessionID, _ rested: Rested) {
        let session = state.withLock { state in state.sessions.first { $0.id == id } }
        session?.rested(rested)
    }

    private func start(_ dormant: DormantSession) {
        let former = state.withLock { $0.ending.last(dormant.id) }
        let session: SessionPipeline
        do throws(ResourceShortage) {
            session = try dormant.started(after: former) { [weak self] in self?.followSessions() }
        } catch {
            return refuse(dormant, because: error)
        }
        // Offered under the lock, or a newer frame could come first and be displaced by this one.
        state.withLock { state in
            state.dormant[session.id] = nil
            state.sessions.append(session)
            if let newest = state.newest { session.offer(newest, arrival: state.arrival) }
        }
        followSessions()
    }

    /// Says, once, that the system refuses what a session takes. It stays as one that is not encoded.
    private func refuse(_ dormant: DormantSession, because shortage: ResourceShortage) {
        let isNews = state.withLock { state in
            defer { state.dormant[dormant.id]?.isRefused = true }
            return state.dormant[dormant.id]?.isRefused == false
        }
        guard isNews else { return }
        let failure = SessionFailure(code: .outOfResources, reason: shortage.description)
        dormant.output.sessionFailed(dormant.id, failure)
    }

    private func putToSleep(_ session: SessionPipeline) {
        state.withLock { state in
            state.sessions.removeAll { $0.id == session.id }
            state.dormant[session.id] = session.dormant
        }
        end(session)
        followSessions()
    }

    // MARK: - Snapshots

    /// What a snapshot of the session shows: what its newest picture is, or will be, made of.
    package func snapshotSubject(of id: SessionID) -> Result<SnapshotSubject, SnapshotRefusal> {
        state.withLock { state in
            guard let parameters = state.parameters(of: id) else { return .failure(SnapshotRefusal(.unknownSession)) }
            guard let frame = state.slate ?? state.newest else { return .failure(SnapshotRefusal(.noFrame)) }
            return .success(SnapshotSubject(frame: frame, size: parameters.size))
        }
    }

    /// How long a snapshot of the session that is to be fresh waits for a frame, ns: two of its intervals, within bounds.
    func snapshotPatience(of id: SessionID) -> UInt64 {
        let fps = state.withLock { $0.parameters(of: id)?.fps } ?? 1
        return min(max(2_000_000_000 / UInt64(max(1, fps)), .milliseconds(100)), .milliseconds(1_000))
    }

    /// Offers the sessions a slate when the source has not delivered for `time`, ns.
    package func showSlate(lostFor time: UInt64, now: UInt64) {
        let (sessions, lost, last) = state.withLock { state in
            (state.sessions, state.lostSince.map { now - min($0, now) } ?? 0, state.newest?.description.size)
        }
        guard lost >= max(1, time), !sessions.isEmpty else { return }
        let minutes = Int(lost / 60_000_000_000)
        let size = last ?? PictureSize(width: 1280, height: 720)
        let slate = CapturedFrame(Slate.pixels(size: size, minutes: minutes), captured: now)
        // A source that has come back meanwhile has the last word.
        state.withLock { state in
            guard state.lostSince != nil else { return }
            state.slate = slate
            for session in sessions { session.offer(slate) }
        }
    }

    /// Tells the source what the sessions have use for by now.
    private func followSessions() {
        demand.follow {
            let sessions = state.withLock { $0.sessions }
            guard let fastest = sessions.map(\.parameters.fps).max() else { return .none }
            return SourceDemand.Value(
                fastestSession: fastest,
                takesDMABuf: sessions.allSatisfy(\.takesDMABuf)
            )
        }
    }
}
