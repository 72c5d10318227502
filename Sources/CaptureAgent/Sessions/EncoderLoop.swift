import Media
import Pacing
import Wire

/// What a session shares with its encoder thread.
struct SessionState: Sendable {
    var parameters: SessionParameters
    /// Whether the encoder thread has yet to take the parameters over.
    var hasNewParameters = false
    var pacer: SessionPacer<CapturedFrame>
    var keyframes: KeyframePolicy
    var encoder = EncoderFigures()
    var rest = RestState.awake
    /// What came of the last rest, until the encoder thread has taken note.
    var rested: Rested?
    /// Whether there is something to do, and other sessions have their turns first.
    var awaitsTurn = false
    var isStopping = false

    /// Takes the parameters' rate over, unless somebody else fills slots at the former one.
    mutating func followRate(at now: UInt64) {
        guard rest == .awake, pacer.fps != parameters.fps else { return }
        pacer.changeRate(fps: parameters.fps, at: now)
        keyframes.changeRate(slotInterval: SlotClock(fps: parameters.fps).interval())
    }
}

/// Who makes a session's repeats.
enum RestState: Sendable {
    /// The agent.
    case awake
    /// The relay.
    case resting
    /// The relay, still, which was asked for the session.
    case waking
}

/// A session's encoder thread: waits for what is due and for its turn, makes the picture and puts it out.
struct EncoderLoop: ~Copyable {
    /// What the encoder thread is to do.
    private enum Work {
        case encode(CapturedFrame)
        case `repeat`
    }

    private struct Job {
        var work: Work
        var slot: UInt64
        var forceKeyframe: Bool
        /// The session's by now, where they have changed.
        var newParameters: SessionParameters?
        /// What came of the rest before it, if there was one.
        var rested: Rested?
    }

    let id: SessionID
    let codec: Codec
    let epoch: UInt64
    let state: Monitor<SessionState>
    let output: any SessionOutput
    let turns: EncodingTurns
    private var encoder: SessionEncoder
    /// Of the last frame.
    private var captured: UInt64 = 0
    private var orientation: UInt8 = 0
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
        // Said before the first frame, which may be long in coming.
        if let unavailability = encoder.unavailability { reportOnce(unavailability) }
        let place = EncodingTurns.Place()
        while waitForWork() {
            turns.begin(place)
            if let job = nextJob() { perform(job) }
            turns.end(place)
        }
    }

    /// Waits for a frame or a slot. Returns false when the session ends.
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

    /// What there is to do by now: the newest frame, whatever came while others had their turns. Nil for nothing any more.
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
                let picture = upright(
                    try encoder.encode(frame, forceKeyframe: job.forceKeyframe || isTurned)
                )
                deliver(picture, slot: job.slot, started: started, flags: [])
                outcome = .encoded(byteCount: picture.bytes.count, isKeyframe: picture.isKeyframe)
            case .repeat:
                let (repeated, kind) = try encoder.makeRepeat(isKeyframe: job.forceKeyframe)
                let picture = upright(repeated)
                let flags = kind == .skipped ? AccessUnit.Flags.repeat.union(.skip) : .repeat
                deliver(picture, slot: job.slot, started: started, flags: flags)
                outcome = Self.outcome(of: kind, picture)
            }
            lastFailure = nil
        } catch {
            outcome = report(error)
        }
        finish(outcome, slot: job.slot, started: started)
    }

    /// The picture, which tells its orientation.
    private func upright(_ picture: EncodedPicture) -> EncodedPicture {
        guard orientation != 0 else { return picture }
        var picture = picture
        picture.bytes = DisplayOrientation.added(orientation, to: picture.bytes, codec: codec)
        return picture
    }

    private func deliver(
        _ picture: EncodedPicture,
        slot: UInt64,
        started: UInt64,
        flags: AccessUnit.Flags
    ) {
        let ended = MonotonicClock.now
        let request = picture.isKeyframe ? noteKeyframe(picture, slot: slot) : 0
        let accessUnit = AccessUnit(
            pts: pts(of: slot),
            captured: captured,
            encodeStart: started,
            encodeEnd: ended,
            flags: picture.isKeyframe ? flags.union(.key) : flags,
            keyframeRequest: request,
            orientation: orientation,
            size: encoder.pictureSize ?? PictureSize(width: 0, height: 0),
            bytes: picture.bytes
        )
        if !output.send(accessUnit, session: id) {
            state.withLock { $0.keyframes.restart() }
        }
    }

    /// Returns the request that the keyframe answers, 0 for none.
    private func noteKeyframe(_ picture: EncodedPicture, slot: UInt64) -> UInt32 {
        state.withLock { state in
            let worth = Self.worth(of: picture, bitrate: state.parameters.bitrate)
            return state.keyframes.keyframeMade(at: slot, worth: worth)
        }
    }

    /// How long a keyframe's bytes take at half of the session's bit rate, ns: what keyframes may take of a screen that is static.
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
            // The picture is wanted as soon as it can be encoded, whether or not the session repeats.
            state.withLock { $0.keyframes.restart() }
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

    private func finish(_ outcome: PictureOutcome, slot: UInt64, started: UInt64) {
        let now = MonotonicClock.now
        // A picture made without the encoder leaves it as it is.
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

    /// Hands the repeats over behind the keyframe of the slot at `slot`, unless there is something to do. Under the lock, or a frame that comes
    /// could ask for the session before it rests.
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
