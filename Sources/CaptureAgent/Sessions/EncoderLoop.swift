import Media
import Pacing
import Wire

/// The state that a session shares with its encoder thread.
struct SessionState: Sendable {
    var parameters: SessionParameters
    /// Whether the encoder thread still has to apply the parameters.
    var hasNewParameters = false
    var pacer: SessionPacer<CapturedFrame>
    var keyframes: KeyframePolicy
    var encoder = EncoderFigures()
    var rest = RestState.awake
    /// The result of the last rest, until the encoder thread has recorded it.
    var rested: Rested?
    /// Whether there is work to do, but other sessions have their turns first.
    var awaitsTurn = false
    var isStopping = false

    /// Applies the parameters' frame rate, unless the relay still fills slots at the former rate.
    mutating func followRate(at now: UInt64) {
        guard rest == .awake, pacer.fps != parameters.fps else { return }
        pacer.changeRate(fps: parameters.fps, at: now)
        keyframes.changeRate(slotInterval: SlotClock(fps: parameters.fps).interval())
    }
}

/// Which side makes a session's repeats.
enum RestState: Sendable {
    /// The agent makes them.
    case awake
    /// The relay makes them.
    case resting
    /// The relay still makes them, but has been asked to hand the session back.
    case waking
}

/// A session's encoder thread: it waits for work and for its turn, encodes the picture and sends it.
struct EncoderLoop: ~Copyable {
    /// The work of the encoder thread.
    private enum Work {
        case encode(CapturedFrame)
        case `repeat`
    }

    private struct Job {
        var work: Work
        var slot: UInt64
        var forceKeyframe: Bool
        /// The session's current parameters, if they have changed.
        var newParameters: SessionParameters?
        /// The size that the session asks for.
        var size: RequestedSize
        /// The result of the preceding rest, if there was one.
        var rested: Rested?
    }

    let id: SessionID
    let codec: Codec
    let epoch: UInt64
    let state: Monitor<SessionState>
    let output: any SessionOutput
    let turns: EncodingTurns
    private var encoder: SessionEncoder
    /// Capture time of the last frame, in ns (monotonic).
    private var captured: UInt64 = 0
    private var orientation: UInt8 = 0
    /// The size of the last frame; `nil` before the first.
    private var source: PictureSize?
    private var lastFailure: EncoderError?

    init(
        id: SessionID,
        codec: Codec,
        epoch: UInt64,
        state: Monitor<SessionState>,
        output: any SessionOutput,
        turns: EncodingTurns,
        encoder: consuming SessionEncoder
    ) {
        self.id = id
        self.codec = codec
        self.epoch = epoch
        self.state = state
        self.output = output
        self.turns = turns
        self.encoder = encoder
    }

    consuming func run() {
        // Reported before the first frame, which may take long to arrive.
        if let unavailability = encoder.unavailability { reportOnce(unavailability) }
        let place = EncodingTurns.Place()
        while waitForWork() {
            turns.begin(place)
            if let job = nextJob() { perform(job) }
            turns.end(place)
        }
    }

    /// Waits for a frame or a slot.
    ///
    /// - Returns: `false` if the session ends.
    private func waitForWork() -> Bool {
        state.wait { state in
            if state.isStopping { return .done(false) }
            guard state.rest == .awake else { return .wait(until: nil) }
            let now = MonotonicClock.now
            let time = state.pacer.nextTime(at: now, demandTime: state.keyframes.demandTime)
            guard let time, time <= now else { return .wait(until: time) }
            state.awaitsTurn = true
            return .done(true)
        }
    }

    /// Returns the current work, with the newest frame that arrived while others had their turns; `nil` if there is
    /// nothing left to do.
    private func nextJob() -> Job? {
        state.withLock { state in
            state.awaitsTurn = false
            guard !state.isStopping, state.rest == .awake else { return nil }
            let now = MonotonicClock.now
            let (work, slot): (Work, UInt64)
            switch state.pacer.next(at: now, demandTime: state.keyframes.demandTime) {
            case .wait: return nil
            case .encode(let frame, let itsSlot):
                (work, slot) = (.encode(frame), itsSlot)
                state.keyframes.screenChanged()
            case .repeat(let itsSlot): (work, slot) = (.repeat, itsSlot)
            }
            state.keyframes.missedSlots = state.pacer.counters.missed
            let forceKeyframe = state.keyframes.wantsKeyframe(at: slot)
            defer { state.hasNewParameters = false }
            let newParameters = state.hasNewParameters ? state.parameters : nil
            defer { state.rested = nil }
            return Job(
                work: work,
                slot: slot,
                forceKeyframe: forceKeyframe,
                newParameters: newParameters,
                size: state.parameters.size,
                rested: state.rested
            )
        }
    }

    private mutating func perform(_ job: consuming Job) {
        let started = MonotonicClock.now
        if let rested = job.rested { encoder.follow(rested) }
        if let parameters = job.newParameters, encoder.follow(parameters) {
            state.withLock { $0.keyframes.ask() }
        }
        let outcome: PictureOutcome
        do throws(SessionEncoder.Failure) {
            switch job.work {
            case .encode(let frame):
                captured = frame.captured
                let isTurned = frame.orientation != orientation
                orientation = frame.orientation
                source = frame.description.size
                let picture = upright(
                    try encoder.encode(frame, forceKeyframe: job.forceKeyframe || isTurned)
                )
                deliver(picture, slot: job.slot, of: job.size, started: started, flags: [])
                outcome = .encoded(byteCount: picture.bytes.count, isKeyframe: picture.isKeyframe)
            case .repeat:
                let (repeated, kind) = try encoder.makeRepeat(isKeyframe: job.forceKeyframe)
                let picture = upright(repeated)
                let flags = kind == .skipped ? AccessUnit.Flags.repeat.union(.skip) : .repeat
                deliver(picture, slot: job.slot, of: job.size, started: started, flags: flags)
                outcome = Self.outcome(of: kind, picture)
            }
            lastFailure = nil
        } catch {
            outcome = report(error)
        }
        finish(outcome, slot: job.slot, started: started)
    }

    /// Adds the orientation to the picture, if it is turned.
    private func upright(_ picture: EncodedPicture) -> EncodedPicture {
        guard orientation != 0 else { return picture }
        var picture = picture
        picture.bytes = DisplayOrientation.added(orientation, to: picture.bytes, codec: codec)
        return picture
    }

    /// Sends a picture.
    ///
    /// - Parameter size: The size that the session asks for.
    private func deliver(
        _ picture: EncodedPicture,
        slot: UInt64,
        of size: RequestedSize,
        started: UInt64,
        flags: AccessUnit.Flags
    ) {
        let ended = MonotonicClock.now
        let request = picture.isKeyframe ? noteKeyframe(picture, slot: slot) : 0
        let mapping = source.map { InputMapping(source: $0, orientation: orientation, size: size) }
        let accessUnit = AccessUnit(
            pts: pts(of: slot),
            captured: captured,
            encodeStart: started,
            encodeEnd: ended,
            flags: picture.isKeyframe ? flags.union(.key) : flags,
            keyframeRequest: request,
            orientation: orientation,
            size: encoder.pictureSize ?? PictureSize(width: 0, height: 0),
            geometry: mapping?.geometry ?? 0,
            bytes: picture.bytes
        )
        if !output.send(accessUnit, session: id) {
            state.withLock { $0.keyframes.restart() }
        }
    }

    /// Records a keyframe.
    ///
    /// - Returns: The request that the keyframe answers; 0 for none.
    private func noteKeyframe(_ picture: EncodedPicture, slot: UInt64) -> UInt32 {
        state.withLock { state in
            let worth = Self.worth(of: picture, bitrate: state.parameters.bitrate)
            return state.keyframes.keyframeMade(at: slot, worth: worth)
        }
    }

    /// Returns how long a keyframe's bytes take at half the session's bitrate, in ns: keyframes may use that share
    /// while the screen is static.
    private static func worth(of picture: EncodedPicture, bitrate: Int) -> UInt64 {
        UInt64(picture.bytes.count) * 16 * 1_000_000_000 / UInt64(bitrate)
    }

    private static func outcome(of kind: SessionEncoder.RepeatKind, _ picture: EncodedPicture) -> PictureOutcome {
        let (byteCount, isKeyframe) = (picture.bytes.count, picture.isKeyframe)
        return switch kind {
        case .refined: .refined(byteCount: byteCount, isKeyframe: isKeyframe)
        case .reencoded: .encoded(byteCount: byteCount, isKeyframe: isKeyframe)
        case .skipped: .skipped(byteCount: byteCount, isKeyframe: isKeyframe)
        }
    }

    private mutating func report(_ failure: SessionEncoder.Failure) -> PictureOutcome {
        switch failure {
        case .noFreePicture:
            return .poolDrop
        case .nothingToRepeat, .unreadable:
            return .failed
        case .encoder(.pausing(let trouble)):
            if let trouble { reportOnce(trouble) }
            // The picture is needed as soon as it can be encoded, whether or not the session repeats.
            state.withLock { $0.keyframes.restart() }
            return .failed
        case .encoder(.stopped(let error)):
            reportOnce(error)
            return .failed
        }
    }

    /// Reports that the session has no encoder, once rather than for every picture.
    private mutating func reportOnce(_ error: EncoderError) {
        guard error != lastFailure else { return }
        lastFailure = error
        output.sessionFailed(id, error.sessionFailure)
    }

    private func finish(_ outcome: PictureOutcome, slot: UInt64, started: UInt64) {
        let now = MonotonicClock.now
        // A picture made without the encoder does not change it.
        if case .skipped(_, let isKeyframe) = outcome {
            let canRest = isKeyframe && encoder.canRest
            state.withLock { state in
                state.pacer.finish(outcome, started: started, at: now)
                if !isKeyframe { state.keyframes.pictureRepeated(at: slot) }
                if canRest { rest(&state, after: slot) }
            }
            return
        }
        let (report, canRest) = (encoder.report, encoder.canRest)
        state.withLock { state in
            state.pacer.finish(outcome, started: started, at: now)
            state.encoder = report
            if canRest { rest(&state, after: slot) }
        }
    }

    /// Hands the repeats over after the keyframe of the slot at `slot`, unless there is other work.
    ///
    /// Called under the lock, because an arriving frame could otherwise ask for the session before it rests.
    private func rest(_ state: inout SessionState, after slot: UInt64) {
        guard state.keyframes.demandTime == nil, !state.hasNewParameters, !state.isStopping,
            let (next, fps) = state.pacer.slotsToFill
        else { return }
        let rest = Rest(
            keyframe: pts(of: slot),
            slot: next,
            fps: fps,
            keyframeInterval: state.keyframes.longestStaticInterval
        )
        if output.rest(id, rest) { state.rest = .resting }
    }

    private func pts(of slot: UInt64) -> Int64 { (Int64(slot) - Int64(epoch)) / 1000 }
}
