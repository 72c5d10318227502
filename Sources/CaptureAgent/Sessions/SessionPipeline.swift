package import Media
import Pacing
package import Wire

/// The destination of a session's access units.
package protocol SessionOutput: Sendable {
    /// Takes an access unit.
    ///
    /// - Returns: `false` if it was dropped and the session must start again with a keyframe.
    func send(_ accessUnit: AccessUnit, session: SessionID) -> Bool
    /// Reports that the session cannot be served for now.
    func sessionFailed(_ session: SessionID, _ failure: SessionFailure)
    /// Hands the session's repeats over, until ``SessionPipeline/rested(_:)``.
    ///
    /// - Returns: Whether the output makes repeats.
    func rest(_ session: SessionID, _ rest: Rest) -> Bool
    /// Asks for a session back whose repeats were handed over.
    func wake(_ session: SessionID)
}

/// An output that cannot make repeats.
extension SessionOutput {
    package func rest(_ session: SessionID, _ rest: Rest) -> Bool { false }
    package func wake(_ session: SessionID) {}
}

/// A session's path from frames to access units: pacing under a lock, encoding in its own thread.
package final class SessionPipeline: Sendable {
    package let id: SessionID
    private let catalogue: EncoderCatalogue
    private let output: any SessionOutput
    private let turns: EncodingTurns
    private let state: Monitor<SessionState>
    private let ability: ImportAbility
    /// Set when the session's thread has finished.
    package let ended = Completion()

    /// - Parameters:
    ///   - turns: Shared with the agent's other sessions.
    ///   - former: Set when the session's previous pipeline has finished, so that its last picture comes before the
    ///     first one of this pipeline; `nil` for none.
    ///   - abilityChanged: Called in the session's thread when ``takesDMABuf`` has changed.
    package init(
        id: SessionID,
        parameters: SessionParameters,
        catalogue: EncoderCatalogue,
        output: any SessionOutput,
        turns: EncodingTurns,
        after former: Completion? = nil,
        abilityChanged: @escaping @Sendable () -> Void = {}
    ) throws(ResourceShortage) {
        let ability = ImportAbility(changed: abilityChanged)
        self.ability = ability
        self.id = id
        self.catalogue = catalogue
        self.output = output
        self.turns = turns
        let state = Monitor(
            SessionState(
                parameters: parameters,
                pacer: SessionPacer(fps: parameters.fps, repeats: parameters.repeat, start: parameters.epoch),
                keyframes: KeyframePolicy(
                    interval: .milliseconds(parameters.keyframeInterval),
                    staticInterval: .milliseconds(parameters.staticKeyframeInterval),
                    slotInterval: SlotClock(fps: parameters.fps).interval()
                )
            )
        )
        self.state = state
        try WorkerThread(name: "encoder-\(id)") { [ended] in
            former?.wait()
            let encoder = SessionEncoder(parameters: parameters, catalogue: catalogue, ability: ability)
            EncoderLoop(
                id: id,
                codec: parameters.codec,
                epoch: parameters.epoch,
                state: state,
                output: output,
                turns: turns,
                encoder: encoder
            ).run()
            ended.set()
        }.detach()
    }

    /// Offers a frame. Does not block.
    ///
    /// - Parameter arrival: When the source delivered it, in monotonic ns. Earlier than now only for the session's
    ///   first frame.
    package func offer(_ frame: CapturedFrame, arrival: UInt64 = MonotonicClock.now) {
        // The replaced frame is released outside the lock.
        _ = state.update { state in
            wake(&state)
            return state.pacer.offer(frame, at: arrival)
        }
    }

    /// Asks for the session back if it rests. Called under the lock, because the request could otherwise overtake the
    /// rest.
    private func wake(_ state: inout SessionState) {
        guard state.rest == .resting else { return }
        state.rest = .waking
        output.wake(id)
    }

    /// Records that the relay has handed the session back.
    package func rested(_ rested: Rested) {
        let now = MonotonicClock.now
        state.update { state in
            guard state.rest != .awake else { return }
            state.rest = .awake
            state.rested = rested
            if let slot = state.pacer.resume(slots: UInt64(rested.slots), at: now) {
                state.keyframes.keyframeRepeated(upTo: slot, lastKeyframe: rested.keyframe.map { min($0, slot) })
            }
            state.followRate(at: now)
        }
    }

    /// Asks for a keyframe that carries `request`.
    package func requestKeyframe(_ request: UInt32) {
        state.update { state in
            wake(&state)
            state.keyframes.request(request)
        }
    }

    /// The session's current parameters.
    package var parameters: SessionParameters { state.withLock { $0.parameters } }

    /// Whether the session can use frames in DMA-BUFs. A session that cannot would drop them.
    package var takesDMABuf: Bool { ability.current }

    /// Changes the running session. A change of size shows with the next frame that is offered.
    ///
    /// - Returns: Which parameter is out of range, in which case nothing changes; otherwise `nil`.
    package func update(_ update: SessionUpdate) -> String? {
        let now = MonotonicClock.now
        return state.update { state in
            let parameters = update.applied(to: state.parameters)
            if let problem = parameters.problem { return problem }
            wake(&state)
            state.parameters = parameters
            state.followRate(at: now)
            state.hasNewParameters = true
            return nil
        }
    }

    /// The same session without a pipeline.
    var dormant: DormantSession {
        DormantSession(id: id, parameters: parameters, catalogue: catalogue, output: output, turns: turns)
    }

    /// The session's figures; the link adds `linkDrops`.
    package var figures: SessionFigures {
        state.withLock { state in
            var counters = state.pacer.counters
            counters.encoderRestarts = state.encoder.restarts
            return SessionFigures(
                session: id,
                encoder: state.encoder.name,
                encoderReason: state.encoder.reason,
                repeatRefusal: state.encoder.repeatRefusal?.description,
                size: state.encoder.size,
                awaitsTurn: state.awaitsTurn ? true : nil,
                counters: counters,
                linkDrops: 0
            )
        }
    }

    /// Ends the session without waiting for its thread, whose encoder may hang. ``ended`` is set when the thread has
    /// finished.
    package func stop() {
        state.update { $0.isStopping = true }
    }

    /// Ends the session and waits until its thread has finished.
    package func shutDown() {
        stop()
        ended.wait()
    }
}
