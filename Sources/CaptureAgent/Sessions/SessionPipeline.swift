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
    private struct State: Sendable {
        var parameters: SessionParameters
        var pacer: SessionPacer<CapturedFrame>
        var keyframes: KeyframePolicy
        var encoder = EncoderFigures()
        var isStopping = false
    }

    /// What the encoder thread is to do.
    private enum Work {
        case encode(CapturedFrame)
        case `repeat`
    }

    private struct Job {
        var work: Work
        var slot: UInt64
        var forceKeyframe: Bool
        /// The session's by now.
        var parameters: SessionParameters
    }

    package let id: SessionID
    private let output: any SessionOutput
    private let state: Monitor<State>
    private let thread: WorkerThread

    package init(
        id: SessionID,
        parameters: SessionParameters,
        catalogue: EncoderCatalogue,
        output: any SessionOutput
    ) {
        self.id = id
        self.output = output
        let state = Monitor(
            State(
                parameters: parameters,
                pacer: SessionPacer(fps: parameters.fps, repeats: parameters.repeat),
                keyframes: KeyframePolicy(
                    interval: .milliseconds(parameters.keyframeInterval),
                    slotInterval: SlotClock(fps: parameters.fps).interval()
                )
            )
        )
        self.state = state
        thread = WorkerThread(name: "encoder-\(id)") {
            EncoderLoop(id: id, parameters: parameters, catalogue: catalogue, state: state, output: output).run()
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
            return nil
        }
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

    // MARK: - Encoder thread

    private struct EncoderLoop: ~Copyable {
        let id: SessionID
        let epoch: UInt64
        let state: Monitor<State>
        let output: any SessionOutput
        private var encoder: SessionEncoder
        private var captured: UInt64 = 0
        private var lastFailure: EncoderError?

        init(
            id: SessionID,
            parameters: SessionParameters,
            catalogue: EncoderCatalogue,
            state: Monitor<State>,
            output: any SessionOutput
        ) {
            self.id = id
            epoch = parameters.epoch
            self.state = state
            self.output = output
            encoder = SessionEncoder(parameters: parameters, catalogue: catalogue)
        }

        consuming func run() {
            // Said before the first frame, which may be long in coming.
            if let unavailability = encoder.unavailability { reportOnce(unavailability) }
            while let job = nextJob() { perform(job) }
        }

        /// Waits for a frame or a slot. Nil when the session ends.
        private func nextJob() -> Job? {
            state.wait { state in
                if state.isStopping { return .done(nil) }
                let now = MonotonicClock.now
                let (work, slot): (Work, UInt64)
                switch state.pacer.next(at: now, demandTime: state.keyframes.demandTime) {
                case .wait(let until): return .wait(until: until)
                case .encode(let frame, let itsSlot): (work, slot) = (.encode(frame), itsSlot)
                case .repeat(let itsSlot): (work, slot) = (.repeat, itsSlot)
                }
                let forceKeyframe = state.keyframes.wantsKeyframe(at: slot)
                return .done(
                    Job(work: work, slot: slot, forceKeyframe: forceKeyframe, parameters: state.parameters)
                )
            }
        }

        private mutating func perform(_ job: consuming Job) {
            let started = MonotonicClock.now
            if encoder.follow(job.parameters) { state.withLock { $0.keyframes.ask() } }
            let outcome: PictureOutcome
            do throws(SessionEncoder.Failure) {
                switch job.work {
                case .encode(let frame):
                    captured = frame.captured
                    let picture = try encoder.encode(frame, forceKeyframe: job.forceKeyframe)
                    outcome = deliver(picture, slot: job.slot, started: started, flags: [])
                case .repeat:
                    let picture = try encoder.encodeRepeat(forceKeyframe: job.forceKeyframe)
                    outcome = deliver(picture, slot: job.slot, started: started, flags: .repeat)
                }
                lastFailure = nil
            } catch {
                outcome = report(error)
            }
            finish(outcome, started: started)
        }

        private func deliver(
            _ picture: EncodedPicture,
            slot: UInt64,
            started: UInt64,
            flags: AccessUnit.Flags
        ) -> PictureOutcome {
            let ended = MonotonicClock.now
            let request = picture.isKeyframe ? state.withLock { $0.keyframes.keyframeMade(at: slot) } : 0
            let accessUnit = AccessUnit(
                pts: (Int64(slot) - Int64(epoch)) / 1000,
                captured: captured,
                encodeStart: started,
                encodeEnd: ended,
                flags: picture.isKeyframe ? flags.union(.key) : flags,
                keyframeRequest: request,
                size: encoder.report.size ?? PictureSize(width: 0, height: 0),
                bytes: picture.bytes
            )
            if !output.send(accessUnit, session: id) {
                state.withLock { $0.keyframes.restart() }
            }
            return .encoded(byteCount: picture.bytes.count, isKeyframe: picture.isKeyframe)
        }

        private mutating func report(_ failure: SessionEncoder.Failure) -> PictureOutcome {
            switch failure {
            case .noFreePicture:
                return .poolDrop
            case .nothingToRepeat, .encoder(.pausing):
                return .failed
            case .encoder(.stopped(let error)):
                reportOnce(error)
                return .failed
            }
        }

        /// Reports that the session has no encoder: once, not for every picture.
        private mutating func reportOnce(_ error: EncoderError) {
            guard error != lastFailure else { return }
            lastFailure = error
            output.sessionFailed(id, error.sessionFailure)
        }

        private func finish(_ outcome: PictureOutcome, started: UInt64) {
            let now = MonotonicClock.now
            let report = encoder.report
            state.withLock { state in
                state.pacer.finish(outcome, started: started, at: now)
                state.encoder = report
            }
        }
    }
}
