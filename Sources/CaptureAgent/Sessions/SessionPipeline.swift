package import Media
import Pacing
package import Wire

/// Where a session's access units go.
package protocol SessionOutput: Sendable {
    /// Takes an access unit. Returns false when it was dropped and the session has to begin again with a keyframe.
    func send(_ accessUnit: AccessUnit, session: SessionID) -> Bool
    /// Says that the session cannot be served for now.
    func sessionFailed(_ session: SessionID, _ failure: SessionFailure)
}

/// One session's way from frames to access units: pacing under a lock, pictures in an encoder thread of its own.
package final class SessionPipeline: Sendable {
    package let id: SessionID
    private let catalogue: EncoderCatalogue
    private let output: any SessionOutput
    private let state: Monitor<SessionState>
    private let ability: ImportAbility
    private let thread: WorkerThread

    /// - Parameter abilityChanged: Called in the session's thread when ``takesDMABuf`` has changed.
    package init(
        id: SessionID,
        parameters: SessionParameters,
        catalogue: EncoderCatalogue,
        output: any SessionOutput,
        abilityChanged: @escaping @Sendable () -> Void = {}
    ) {
        let ability = ImportAbility(changed: abilityChanged)
        self.ability = ability
        self.id = id
        self.catalogue = catalogue
        self.output = output
        let state = Monitor(
            SessionState(
                parameters: parameters,
                pacer: SessionPacer(fps: parameters.fps, repeats: parameters.repeat),
                keyframes: KeyframePolicy(
                    interval: .milliseconds(parameters.keyframeInterval),
                    stillInterval: .milliseconds(parameters.stillKeyframeInterval),
                    slotInterval: SlotClock(fps: parameters.fps).interval()
                )
            )
        )
        self.state = state
        thread = WorkerThread(name: "encoder-\(id)") {
            let encoder = SessionEncoder(parameters: parameters, catalogue: catalogue, ability: ability)
            EncoderLoop(
                id: id,
                codec: parameters.codec,
                epoch: parameters.epoch,
                state: state,
                output: output,
                encoder: encoder
            ).run()
        }
    }

    /// Offers a frame that the source has just delivered. Does not block.
    package func offer(_ frame: CapturedFrame) {
        let now = MonotonicClock.now
        // The displaced frame is released outside the lock.
        _ = state.update { $0.pacer.offer(frame, at: now) }
    }

    /// Asks for a keyframe that carries `request`.
    package func requestKeyframe(_ request: UInt32) {
        state.update { $0.keyframes.request(request) }
    }

    /// What the session is to be by now.
    package var parameters: SessionParameters { state.withLock { $0.parameters } }

    /// Whether the session can use frames in DMA-BUFs; they are wasted on one that cannot.
    package var takesDMABuf: Bool { ability.current }

    /// Changes the running session. A change of size shows with the next frame offered.
    ///
    /// Returns what is out of range; then nothing changes.
    package func update(_ update: SessionUpdate) -> String? {
        let now = MonotonicClock.now
        return state.update { state in
            let parameters = update.applied(to: state.parameters)
            if let problem = parameters.problem { return problem }
            if parameters.fps != state.parameters.fps {
                state.pacer.changeRate(fps: parameters.fps, at: now)
                state.keyframes.changeRate(slotInterval: SlotClock(fps: parameters.fps).interval())
            }
            state.parameters = parameters
            state.hasNewParameters = true
            return nil
        }
    }

    /// The session as it is without its pipeline.
    var dormant: DormantSession {
        DormantSession(id: id, parameters: parameters, catalogue: catalogue, output: output)
    }

    /// The session's figures; `linkDrops` are the link's to add.
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
                counters: counters,
                linkDrops: 0
            )
        }
    }

    /// Ends the session and waits for its thread.
    package func shutDown() {
        state.update { $0.isStopping = true }
        thread.join()
    }
}
