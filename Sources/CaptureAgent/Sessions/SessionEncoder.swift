import Media
import Pacing
import Wire

/// The picture side of a session: scaler, frame pool and encoder. They are rebuilt when the source or the session
/// changes its size.
///
/// Owned by the session's encoder thread.
struct SessionEncoder: ~Copyable {
    /// The reason why a picture was not encoded.
    enum Failure: Error {
        case noFreePicture
        case nothingToRepeat
        /// The frame is in a DMA-BUF, and this session accepts memory only.
        case unreadable
        case encoder(RecoveringEncoder.Failure)
    }

    private var parameters: SessionParameters
    private var scaler: PictureScaler?
    private var pool: FramePool?
    private var encoder: RecoveringEncoder
    /// The last encoded picture, from which repeats are made.
    private var lastPicture: LastPicture?
    private var settling = SettlingPolicy()
    /// Whether the last picture's keyframe is too large without the bitrate's cap.
    private var holdsStaticToCap = false
    private let ability: ImportAbility
    /// Whether the session never accepts DMA-BUFs again: a pointer had to be drawn, or an import failed.
    private var takesMemoryOnly = false

    private enum LastPicture {
        case inMemory(PlanarPicture)
        /// The encoder holds the picture, of that size.
        case imported(PictureSize)

        var size: PictureSize {
            switch self {
            case .inMemory(let picture): picture.size
            case .imported(let size): size
            }
        }
    }

    /// - Parameter ability: Updated by this object.
    init(parameters: SessionParameters, catalogue: EncoderCatalogue, ability: ImportAbility) {
        self.parameters = parameters
        self.ability = ability
        encoder = RecoveringEncoder(
            name: parameters.encoder,
            codec: parameters.codec,
            chroma: parameters.chroma,
            catalogue: catalogue
        )
    }

    /// The encoder's figures for a heartbeat.
    var report: EncoderFigures {
        let opened = encoder.opened
        return EncoderFigures(
            name: opened?.name ?? "",
            reason: encoder.reason,
            size: opened?.settings.size,
            restarts: encoder.restarts,
            repeatRefusal: encoder.repeatRefusal
        )
    }

    /// The open encoder's picture size.
    var pictureSize: PictureSize? { encoder.opened?.settings.size }

    /// Why the requested encoder cannot be used at all.
    var unavailability: EncoderError? { encoder.unavailability }

    /// Applies changed parameters.
    ///
    /// - Returns: Whether they need a keyframe to take effect.
    mutating func follow(_ parameters: SessionParameters) -> Bool {
        guard parameters != self.parameters else { return false }
        self.parameters = parameters
        return !encoder.reconfigure(
            bitrate: parameters.bitrate,
            burst: parameters.burst,
            fps: parameters.fps
        )
    }

    /// Scales and encodes `frame`. If the picture's size differs from the last one's, it becomes a keyframe.
    mutating func encode(_ frame: CapturedFrame, forceKeyframe: Bool) throws(Failure) -> EncodedPicture {
        defer { ability.set(takesDMABuf) }
        // The pointer cannot be drawn into a DMA-BUF.
        if frame.pointer != nil { takesMemoryOnly = true }
        let size = parameters.size.resolved(source: frame.description.size)
        // First, so that a session without an encoder does not scale anything.
        let pause = try prepareOrPause(size: size, isKeyframe: forceKeyframe)
        let isNewSize = prepareScaler(source: frame.description.size, output: size)
        let forceKeyframe = forceKeyframe || isNewSize
        switch frame.contents {
        case .memory(let pixels):
            let picture = try keep(pixels, frame.pointer)
            if let pause { throw pause }
            let encoded = try encode(picture, forceKeyframe: forceKeyframe)
            settling.pictureEncoded(isCapped: encoded.isCapped, fps: parameters.fps)
            return encoded
        case .dmaBuf(let buffer):
            if let pause { throw pause }
            return try encode(buffer, forceKeyframe: forceKeyframe)
        }
    }

    /// Makes the frame the last picture, even if encoding fails: it is what the screen shows and what repeats are made
    /// from.
    private mutating func keep(_ pixels: FramePixels, _ pointer: Pointer?) throws(Failure) -> PlanarPicture {
        guard let picture = pool?.take() else { throw .noFreePicture }
        scaler?.convert(pixels, pointer: pointer, into: picture)
        setLastPicture(.inMemory(picture))
        settling.pictureTaken()
        return picture
    }

    /// The way in which a repeat was made.
    enum RepeatKind {
        /// By the encoder, because the picture had not reached its final quality.
        case refined
        /// By the encoder, although the picture had reached its final quality.
        case reencoded
        /// Without the encoder.
        case skipped
    }

    /// Shows the last picture again.
    mutating func makeRepeat(isKeyframe: Bool) throws(Failure) -> (picture: EncodedPicture, kind: RepeatKind) {
        guard let lastPicture else { throw .nothingToRepeat }
        // The usual case, so nothing else is checked.
        if !isKeyframe, !settling.isRefining, let picture = encoder.skip() {
            settling.repeatSkipped()
            return (picture, .skipped)
        }
        defer { ability.set(takesDMABuf) }
        // If this replaces the encoder, the new one has not made a picture that could be repeated.
        try prepareEncoder(size: lastPicture.size, isKeyframe: isKeyframe)
        let wasSettled = settling.isSettled
        if wasSettled, isKeyframe, let picture = encoder.resendKeyframe() { return (picture, .skipped) }
        // A keyframe directly after its copy could carry the same idr_pic_id, which H.264 7.4.3 forbids. It moves to
        // the next slot.
        if wasSettled, isKeyframe, encoder.isResumable, let picture = encoder.skip() { return (picture, .skipped) }
        let picture: EncodedPicture
        switch lastPicture {
        case .inMemory(let last) where isKeyframe && wasSettled && encoder.takesRepeats && !holdsStaticToCap:
            picture = try encodeStaticKeyframe(last)
        case .inMemory(let last): picture = try encode(last, forceKeyframe: isKeyframe)
        case .imported: picture = try encodeImportedAgain(forceKeyframe: isKeyframe)
        }
        if picture.isKeyframe {
            settling.keyframeEncoded(isCapped: picture.isCapped)
        } else {
            settling.repeatEncoded(isCapped: picture.isCapped)
        }
        return (picture, wasSettled ? .reencoded : .refined)
    }

    /// Whether the last picture has settled and is a keyframe, so that the relay can repeat it.
    var canRest: Bool { settling.isSettled && encoder.isResumable }

    /// Records the repeats that the relay has made from the last keyframe.
    mutating func follow(_ rested: Rested) {
        encoder.follow(rested)
    }

    // MARK: - DMA-BUF

    /// Whether frames in DMA-BUFs can be encoded now: the encoder imports them, and no borders or pointer must be
    /// drawn.
    private var takesDMABuf: Bool { !takesMemoryOnly && !hasBorders && encoder.imports }

    private var hasBorders: Bool {
        switch scaler {
        case .some(let scaler): scaler.fit.hasBorders
        case .none: false
        }
    }

    private mutating func encode(_ buffer: DMABuf, forceKeyframe: Bool) throws(Failure) -> EncodedPicture {
        guard takesDMABuf, let size = pool?.size else { throw .unreadable }
        let encoded: EncodedPicture?
        do {
            encoded = try encoder.encode(buffer, forceKeyframe: forceKeyframe)
        } catch {
            takesMemoryOnly = true
            throw .encoder(error)
        }
        guard let encoded else { throw .unreadable }
        setLastPicture(.imported(size))
        settling.pictureEncoded(isCapped: encoded.isCapped, fps: parameters.fps)
        return encoded
    }

    private mutating func encodeImportedAgain(forceKeyframe: Bool) throws(Failure) -> EncodedPicture {
        let encoded: EncodedPicture?
        do {
            encoded = try encoder.encodeImportedAgain(forceKeyframe: forceKeyframe)
        } catch {
            throw .encoder(error)
        }
        // The encoder that held the picture may have been replaced.
        guard let encoded else { throw .nothingToRepeat }
        return encoded
    }

    private mutating func encode(
        _ picture: PlanarPicture,
        forceKeyframe: Bool
    ) throws(Failure) -> EncodedPicture {
        do {
            return try encoder.encode(picture, forceKeyframe: forceKeyframe)
        } catch {
            throw .encoder(error)
        }
    }

    private mutating func encodeStaticKeyframe(_ picture: PlanarPicture) throws(Failure) -> EncodedPicture {
        do {
            let (encoded, isHeldToCap) = try encoder.encodeStaticKeyframe(picture)
            holdsStaticToCap = isHeldToCap
            return encoded
        } catch {
            throw .encoder(error)
        }
    }

    /// Adapts scaler and pool.
    ///
    /// - Returns: Whether the size of the source or of the picture has changed.
    private mutating func prepareScaler(source: PictureSize, output: PictureSize) -> Bool {
        if scaler?.source == source, scaler?.fit.output == output { return false }
        if pool?.size != output {
            lastPicture = nil
            pool = FramePool(size: output, chroma: parameters.chroma)
        }
        scaler = PictureScaler(source: source, output: output, chroma: parameters.chroma)
        return true
    }

    private mutating func setLastPicture(_ picture: LastPicture) {
        if case .inMemory(let former) = lastPicture { pool?.giveBack(former) }
        lastPicture = picture
        holdsStaticToCap = false
    }

    /// Prepares the encoder.
    ///
    /// - Returns: The passing failure, if the encoder will be tried again soon.
    private mutating func prepareOrPause(size: PictureSize, isKeyframe: Bool) throws(Failure) -> Failure? {
        do throws(Failure) {
            try prepareEncoder(size: size, isKeyframe: isKeyframe)
            return nil
        } catch {
            guard case .encoder(.pausing) = error else { throw error }
            return error
        }
    }

    private mutating func prepareEncoder(size: PictureSize, isKeyframe: Bool) throws(Failure) {
        let settings = EncoderSettings(
            codec: parameters.codec,
            chroma: parameters.chroma,
            size: size,
            fps: parameters.fps,
            bitrate: parameters.bitrate,
            burst: parameters.burst
        )
        do {
            try encoder.prepare(for: settings, isKeyframe: isKeyframe)
        } catch {
            throw .encoder(error)
        }
    }
}

/// What a heartbeat reports about a session's encoder.
struct EncoderFigures: Sendable {
    /// The encoder's name; empty until it is open.
    var name = ""
    /// Why this encoder was chosen instead of the session's first choice.
    var reason: String?
    var size: PictureSize?
    var restarts: UInt64 = 0
    /// Why all repeats are encoded, if they are.
    var repeatRefusal: RepeatRefusal?
}
