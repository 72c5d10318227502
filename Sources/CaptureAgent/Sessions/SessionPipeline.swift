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
        var pacer: SessionPacer<CapturedFrame>
        var keyframes: KeyframePolicy
        var encoderName = ""
        var pictureSize: PictureSize?
        var isStopping = false
    }

    /// What the encoder thread is to do.
    private enum Work {
        case encode(CapturedFrame, slot: UInt64, forceKeyframe: Bool)
        case `repeat`(slot: UInt64, forceKeyframe: Bool)
    }

    package let id: SessionID
    package let parameters: SessionParameters
    private let output: any SessionOutput
    private let state: Monitor<State>
    private let thread: WorkerThread

    package init(id: SessionID, parameters: SessionParameters, output: any SessionOutput) {
        self.id = id
        self.parameters = parameters
        self.output = output
        let state = Monitor(
            State(
                pacer: SessionPacer(fps: parameters.fps, repeats: parameters.repeat),
                keyframes: KeyframePolicy(
                    interval: .milliseconds(parameters.keyframeInterval),
                    slotInterval: SlotClock(fps: parameters.fps).interval()
                )
            )
        )
        self.state = state
        thread = WorkerThread(name: "encoder-\(id)") {
            EncoderLoop(id: id, parameters: parameters, state: state, output: output).run()
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

    /// The session's figures; `linkDrops` are the link's to add.
    package var figures: SessionFigures {
        state.withLock { state in
            SessionFigures(
                session: id,
                encoder: state.encoderName,
                size: state.pictureSize,
                counters: state.pacer.counters,
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

        init(id: SessionID, parameters: SessionParameters, state: Monitor<State>, output: any SessionOutput) {
            self.id = id
            epoch = parameters.epoch
            self.state = state
            self.output = output
            encoder = SessionEncoder(parameters: parameters)
        }

        consuming func run() {
            while let work = nextWork() { perform(work) }
        }

        /// Waits for a frame or a slot. Nil when the session ends.
        private func nextWork() -> Work? {
            state.wait { state in
                if state.isStopping { return .done(nil) }
                let now = MonotonicClock.now
                switch state.pacer.next(at: now, demandTime: state.keyframes.demandTime) {
                case .wait(let until):
                    return .wait(until: until)
                case .encode(let frame, let slot):
                    return .done(.encode(frame, slot: slot, forceKeyframe: state.keyframes.wantsKeyframe(at: slot)))
                case .repeat(let slot):
                    return .done(.repeat(slot: slot, forceKeyframe: state.keyframes.wantsKeyframe(at: slot)))
                }
            }
        }

        private mutating func perform(_ work: consuming Work) {
            let started = MonotonicClock.now
            let outcome: PictureOutcome
            do throws(SessionEncoder.Failure) {
                switch work {
                case .encode(let frame, let slot, let forceKeyframe):
                    captured = frame.captured
                    let picture = try encoder.encode(frame, forceKeyframe: forceKeyframe)
                    outcome = deliver(picture, slot: slot, started: started, flags: [])
                case .repeat(let slot, let forceKeyframe):
                    let picture = try encoder.encodeRepeat(forceKeyframe: forceKeyframe)
                    outcome = deliver(picture, slot: slot, started: started, flags: .repeat)
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
                size: encoder.opened?.size ?? PictureSize(width: 0, height: 0),
                bytes: picture.bytes
            )
            if !output.send(accessUnit, session: id) {
                state.withLock { $0.keyframes.restart() }
            }
            return .encoded(byteCount: picture.bytes.count, isKeyframe: picture.isKeyframe)
        }

        /// Reports an encoder's failure once, not for every picture.
        private mutating func report(_ failure: SessionEncoder.Failure) -> PictureOutcome {
            switch failure {
            case .noFreePicture:
                return .poolDrop
            case .nothingToRepeat:
                return .failed
            case .encoder(let error):
                if error != lastFailure {
                    lastFailure = error
                    output.sessionFailed(id, SessionFailure(reason: error.description))
                }
                return .failed
            }
        }

        private func finish(_ outcome: PictureOutcome, started: UInt64) {
            let now = MonotonicClock.now
            let opened = encoder.opened
            state.withLock { state in
                state.pacer.finish(outcome, started: started, at: now)
                state.encoderName = opened?.name ?? ""
                state.pictureSize = opened?.size
            }
        }
    }
}
