import Media
import Synchronization
package import Wire

/// The meeting point of the source's thread and the sessions: the newest frame, the source's state, the sessions and
/// the link.
package final class Screen: FrameSink {
    package let demand = SourceDemand(.none)
    private let turns = EncodingTurns()
    private let state = Mutex(ScreenState())

    package init() {}

    // MARK: - FrameSink

    package func receive(_ frame: CapturedFrame) {
        let arrival = MonotonicClock.now
        let (sessions, snapshots, watches, previous) = state.withLock { state in
            // Released outside the lock, because this returns its buffer to the source.
            let previous = state.newest
            state.newest = frame
            state.newestIsCurrent = true
            state.arrival = arrival
            state.slate = nil
            state.framesReceived += 1
            state.follow(frame)
            return (state.sessions, state.snapshots, state.watches, previous)
        }
        for session in sessions { session.offer(frame, arrival: arrival) }
        snapshots?.frameArrived(captured: frame.captured)
        watches?.frameArrived(frame)
        withExtendedLifetime(previous) {}
    }

    package func pointerMoved(to place: SIMD2<Int>?) {
        state.withLock { $0.pointer = place }
    }

    package func outdated() {
        let (previous, watches) = state.withLock { state in
            defer { (state.newest, state.newestIsCurrent, state.pointer) = (nil, false, nil) }
            return (state.newest, state.watches)
        }
        watches?.interrupted()
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
        // Sent under the lock, because an older status could otherwise overtake this one.
        let (watches, opened) = state.withLock { state in
            if status.state != .streaming { (state.newestIsCurrent, state.pointer) = (false, nil) }
            let isOpened = status.state == .streaming && state.status.state != .streaming
            state.lostSince = status.state == .streaming ? nil : state.lostSince ?? now
            // Known values stay valid: the size during a pause, the timings while the source opens.
            var known = status
            known.kind = status.kind ?? state.status.kind
            if status.state != .lost {
                known.size = status.size ?? state.status.size
                known.orientation = status.orientation ?? state.status.orientation
                known.timings = status.timings ?? state.status.timings
            }
            state.status = known
            state.link?.send(.status(known))
            return (state.watches, isOpened ? state.inputs : nil)
        }
        if status.state != .streaming { watches?.interrupted() }
        opened?.desktopChanged()
    }

    /// Takes over the current reports about the encoders.
    func encodersProbed(_ reports: [EncoderReport]) {
        state.withLock { state in
            state.encoders = reports
            state.link?.send(.encoders(EncoderReports(encoders: reports)))
        }
    }

    // MARK: - Link

    /// Reports to `link` from now on, starting with the source's state and the encoders. Also tells the desks about
    /// frames.
    func attach(_ link: RelayLink, snapshots: SnapshotDesk, watches: WatchDesk, inputs: InputDesk) {
        state.withLock { state in
            state.link = link
            state.snapshots = snapshots
            state.watches = watches
            state.inputs = inputs
            link.send(.status(state.status))
            if !state.encoders.isEmpty { link.send(.encoders(EncoderReports(encoders: state.encoders))) }
        }
    }

    /// Ends all sessions, because they belonged to the link.
    func detach() {
        let sessions = state.withLock { state in
            defer { state.sessions = [] }
            state.dormant = [:]
            state.link = nil
            state.snapshots = nil
            state.watches = nil
            state.inputs = nil
            return state.sessions
        }
        for session in sessions { end(session) }
        followSessions()
    }

    /// Waits until the threads of all ended sessions have finished.
    func waitForEnds() {
        for ended in state.withLock({ $0.ending.ends }) { ended.wait() }
    }

    /// Returns a session that was told to end at least 10 s ago and has not ended, or `nil` if there is none.
    ///
    /// - Parameter now: The current monotonic time, in ns.
    package func hungSession(now: UInt64) -> SessionID? { state.withLock { $0.ending.hung(now: now) } }

    /// Ends a session's pipeline without waiting for it, because its encoder may hang and must not block the link's
    /// thread.
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

    /// Adds a session. If it is active, its pipeline starts from the newest frame. A session with the same id is
    /// replaced.
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

    /// Changes a session, which may start or end its pipeline.
    ///
    /// - Returns: Which parameter is out of range, in which case nothing changes; otherwise `nil`.
    package func updateSession(_ id: SessionID, _ update: SessionUpdate) -> String? {
        let outcome: UpdateOutcome = state.withLock { state in
            guard let session = state.sessions.first(where: { $0.id == id }) else {
                if let problem = state.dormant[id]?.update(update) { return .refused(problem) }
                return state.dormant[id].flatMap { $0.parameters.isActive ? .starts($0) : nil } ?? .done
            }
            if let problem = session.update(update) { return .refused(problem) }
            if !session.parameters.isActive { return .ends(session) }
            // A static screen sends no new frame, so the newest one is shown again at the new size.
            if update.size != nil, let newest = state.newest { session.offer(newest) }
            return .done
        }
        if update.size != nil { compareAgain() }
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

    /// Asks for a keyframe that carries `request`.
    ///
    /// If the session is not active yet, its first keyframe carries it. A session that the system refused is started
    /// again.
    package func requestKeyframe(_ id: SessionID, _ request: UInt32) {
        let (session, refused) = state.withLock { state in
            state.dormant[id]?.request = request
            let refused = state.dormant[id].flatMap { $0.isRefused && $0.parameters.isActive ? $0 : nil }
            return (state.sessions.first { $0.id == id }, refused)
        }
        session?.requestKeyframe(request)
        if let refused { start(refused) }
    }

    /// Records that the relay has stopped making the session's repeats and hands them back.
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
        // Offered under the lock, because a newer frame could otherwise arrive first and be replaced by this one.
        state.withLock { state in
            state.dormant[session.id] = nil
            state.sessions.append(session)
            if let newest = state.newest { session.offer(newest, arrival: state.arrival) }
        }
        followSessions()
    }

    /// Reports once that the system refuses the resources for a session. The session stays, without being encoded.
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

    /// Returns what a snapshot of the session shows: the content of its newest or next picture.
    package func snapshotSubject(of id: SessionID) -> Result<SnapshotSubject, SnapshotRefusal> {
        state.withLock { state in
            guard let parameters = state.parameters(of: id) else { return .failure(SnapshotRefusal(.unknownSession)) }
            guard let frame = state.slate ?? state.newest else { return .failure(SnapshotRefusal(.noFrame)) }
            return .success(SnapshotSubject(frame: frame, size: parameters.size))
        }
    }

    // MARK: - Input

    /// Returns what a session's coordinates mean for input: those of the newest frame, or else of the source's status.
    /// Slates do not count.
    package func inputSubject(of id: SessionID) -> InputHand.Subject {
        state.withLock { state in
            guard let size = state.parameters(of: id)?.size else { return .unknownSession }
            if state.newestIsCurrent, let frame = state.newest {
                return .session(
                    InputMapping(source: frame.description.size, orientation: frame.orientation, size: size),
                    pointer: state.pointer
                )
            }
            // A source that no session needs sends no frames.
            guard state.status.state == .streaming, let source = state.status.size else {
                return .session(nil, pointer: nil)
            }
            let orientation = state.status.orientation ?? 0
            return .session(InputMapping(source: source, orientation: orientation, size: size), pointer: nil)
        }
    }

    // MARK: - Watches

    /// Returns what a session shows, for its watches: the newest frame, if the screen still shows it, and the session's
    /// size. Slates do not count.
    func watchSubject(of id: SessionID) -> (frame: CapturedFrame?, size: RequestedSize)? {
        state.withLock { state in
            state.parameters(of: id).map { (state.newestIsCurrent ? state.newest : nil, $0.size) }
        }
    }

    /// Has the newest frame compared at a session's new size, because a static screen sends no other.
    private func compareAgain() {
        let (frame, watches) = state.withLock { ($0.newestIsCurrent ? $0.newest : nil, $0.watches) }
        if let frame { watches?.frameArrived(frame) }
    }

    /// Returns how long a fresh snapshot of the session waits for a frame, in ns: two of its intervals, within bounds.
    ///
    /// A source that has paused needs longer for its first frame, and what came before no longer counts.
    func snapshotPatience(of id: SessionID) -> UInt64 {
        let (fps, isPaused) = state.withLock { state in
            (state.parameters(of: id)?.fps ?? 1, state.status.state == .streaming && !state.newestIsCurrent)
        }
        guard !isPaused else { return .milliseconds(3_000) }
        return min(max(2_000_000_000 / UInt64(max(1, fps)), .milliseconds(100)), .milliseconds(1_000))
    }

    /// Offers a slate to the sessions if the source has not delivered for `time` ns.
    package func showSlate(lostFor time: UInt64, now: UInt64) {
        let (sessions, lost, last) = state.withLock { state in
            (state.sessions, state.lostSince.map { now - min($0, now) } ?? 0, state.newest?.description.size)
        }
        guard lost >= max(1, time), !sessions.isEmpty else { return }
        let minutes = Int(lost / 60_000_000_000)
        let size = last ?? PictureSize(width: 1280, height: 720)
        let slate = CapturedFrame(Slate.pixels(size: size, minutes: minutes), captured: now)
        // If the source has come back meanwhile, its frame wins.
        state.withLock { state in
            guard state.lostSince != nil else { return }
            state.slate = slate
            for session in sessions { session.offer(slate) }
        }
    }

    /// Tells the source what the sessions, watches and snapshots need now.
    func followSessions() {
        demand.follow {
            let (sessions, watched, snapshots, monitor) = state.withLock { state in
                let watched = state.watches?.sessions.compactMap { state.parameters(of: $0)?.fps } ?? []
                return (state.sessions, watched, state.snapshots, state.monitor)
            }
            // Beside a session its frames will do.
            let snapshot = snapshots?.awaitsFrame == true ? [1] : []
            let fastest = (sessions.map(\.parameters.fps) + watched + snapshot).max()
            // Watches and snapshots read pixels, which a DMA-BUF does not allow.
            let takesDMABuf =
                fastest != nil && watched.isEmpty && sessions.allSatisfy(\.takesDMABuf)
                && !(sessions.isEmpty && !snapshot.isEmpty)
            return SourceDemand.Value(fastestSession: fastest, takesDMABuf: takesDMABuf, monitor: monitor)
        }
    }

    // MARK: - The monitor's size

    /// The size of the source's picture; `nil` while it delivers none.
    var sourceSize: PictureSize? {
        state.withLock { $0.status.state == .streaming ? $0.status.size : nil }
    }

    /// The size that a source's own monitor should have; `nil` for the one that it was made with.
    var monitorSize: PictureSize? { state.withLock { $0.monitor } }

    /// Asks a source that has made its own monitor for one of another size; `nil` for the one that it was made with.
    func resizeMonitor(to size: PictureSize?) {
        state.withLock { $0.monitor = size }
        followSessions()
    }

    /// Records the size of a source that shows no picture now.
    func sourceTook(_ size: PictureSize) {
        state.withLock { state in
            guard state.status.size != size else { return }
            state.status.size = size
            state.link?.send(.status(state.status))
        }
    }
}
