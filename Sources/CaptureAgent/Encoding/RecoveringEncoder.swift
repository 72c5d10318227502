import Media
import Wire

/// A session's encoder: opened as asked for, opened again or replaced when it fails.
///
/// Owned by the session's encoder thread.
struct RecoveringEncoder: ~Copyable {
    enum Failure: Error {
        /// There will be no encoder until the settings change.
        case stopped(EncoderError)
        /// An encoder that failed is tried again later; with what stands in its way until it passes by itself, if that is known.
        case pausing(EncoderError?)
    }

    /// What a packet has room for, but for a message that is put into turned pictures afterwards, some ten bytes.
    private static let longestPicture = AccessUnit.maximumByteCount - 64

    private let catalogue: EncoderCatalogue
    private let codec: Codec
    /// Nil for `auto`.
    private let entry: EncoderEntry?
    /// Why the encoder that was asked for cannot be used at all.
    let unavailability: EncoderError?
    private var choice = EncoderChoice()
    private var encoder: (any VideoEncoder)? {
        // Asked for every picture, and a search among conformances.
        didSet { imports = encoder is any ImportingEncoder }
    }
    /// Whether the open encoder takes frames in DMA-BUFs.
    private(set) var imports = false
    /// What the open encoder has made, with what was put between.
    private var stream: RepeatableStream
    /// What the next encoder is opened for.
    private var settings: EncoderSettings?
    /// Whether an encoder has failed and its replacement is not open yet.
    private var isBroken = false
    /// Encoders that failed in mid-stream and were replaced.
    private(set) var restarts: UInt64 = 0
    /// Why it is this encoder, where it is not the session's first choice; as of the last keyframe.
    private(set) var reason: String?

    /// - Parameter name: The encoder's, or `auto`. One that was not probed yet is.
    init(name: String, codec: Codec, catalogue: EncoderCatalogue) {
        self.catalogue = catalogue
        self.codec = codec
        stream = RepeatableStream(codec: codec)
        guard name != SessionParameters.automaticEncoder else {
            entry = nil
            unavailability = nil
            return
        }
        entry = catalogue.entry(named: name)
        unavailability = Self.unavailability(of: entry, name: name, codec: codec, catalogue: catalogue)
    }

    private static func unavailability(
        of entry: EncoderEntry?,
        name: String,
        codec: Codec,
        catalogue: EncoderCatalogue
    ) -> EncoderError? {
        guard let entry else {
            return .unavailable(
                encoder: name,
                reason: "neither this agent nor its libavcodec has an encoder of that name for H.264 or H.265"
            )
        }
        guard entry.codec == codec else {
            return .unavailable(encoder: name, reason: "it makes \(entry.codec.rawValue), not \(codec.rawValue)")
        }
        // The codec's own software encoder needs no proof, and its session no delay.
        if catalogue.automaticChoices(for: codec).last?.name == name { return nil }
        return catalogue.report(on: entry).reason.map { .unavailable(encoder: name, reason: $0) }
    }

    /// The open encoder's name and what it was opened for.
    var opened: (name: String, settings: EncoderSettings)? { encoder.map { ($0.name, $0.settings) } }

    /// Takes over a bit rate and a rate of pictures without a keyframe. Returns whether the open encoder can.
    func reconfigure(bitrate: Int, fps: Int) -> Bool {
        encoder?.reconfigure(bitrate: bitrate, fps: fps) ?? true
    }

    /// Makes sure that an encoder is open for pictures of the settings' size.
    ///
    /// - Parameter isKeyframe: Whether the next picture is a keyframe anyway: then an encoder of other settings, or one
    ///   that is not the best any more, is replaced.
    mutating func prepare(for settings: EncoderSettings, isKeyframe: Bool) throws(Failure) {
        if settings != self.settings {
            self.settings = settings
            choice.settingsChanged()
        }
        if let encoder {
            if encoder.settings.size == settings.size {
                guard isKeyframe else { return }
                reason = reasonForFallback()
                guard encoder.settings != settings || choice.prefersAnother(among: choices.map(\.name)) else { return }
            }
            // Closed first: some devices open only few encoders at a time.
            self.encoder = nil
            choice.closed()
        }
        try open(for: settings)
    }

    /// A picture that shows the last one again, made without the encoder; nil where its stream takes none.
    mutating func skip() -> EncodedPicture? {
        stream.skip().map { EncodedPicture(bytes: $0, isKeyframe: false) }
    }

    /// The last keyframe once more, where the picture is still the keyframe's; nil where that cannot be.
    mutating func resendKeyframe() -> EncodedPicture? {
        stream.resendKeyframe().map { EncodedPicture(bytes: $0, isKeyframe: true) }
    }

    /// Whether the last picture was a keyframe that somebody else can go on from.
    var isResumable: Bool { stream.isResumable }

    /// Takes note of what somebody else has made of the last keyframe.
    mutating func follow(_ rested: Rested) {
        stream.follow(inserted: Int(rested.inserted), keyframeWasResent: rested.keyframe != nil)
    }

    /// Whether its stream takes pictures made without it.
    var takesRepeats: Bool { stream.admission == .admitted }

    /// Why the open encoder's stream takes no pictures made without it; nil when it does, or is not known yet.
    var repeatRefusal: RepeatRefusal? {
        if case .refused(let refusal) = stream.admission { refusal } else { nil }
    }

    /// Encodes one picture, whose size is that of the encoder prepared. If that fails, its replacement encodes it as a keyframe.
    mutating func encode(_ picture: I420Picture, forceKeyframe: Bool) throws(Failure) -> EncodedPicture {
        try encode(forceKeyframe: forceKeyframe) { encoder, force throws(EncoderError) in
            try encoder.encode(picture, forceKeyframe: force)
        }
    }

    /// Encodes a picture that has settled as a keyframe that can be sent again. If no packet has room for it, the cap of the bitrate holds for it too.
    mutating func encodeStaticKeyframe(
        _ picture: I420Picture
    ) throws(Failure) -> (encoded: EncodedPicture, isHeldToCap: Bool) {
        var isHeldToCap = false
        let encoded = try encode(forceKeyframe: true) { encoder, _ throws(EncoderError) in
            if !isHeldToCap {
                let encoded = try encoder.encodeStaticKeyframe(picture)
                if encoded.bytes.count <= Self.longestPicture { return encoded }
                isHeldToCap = true
            }
            return try encoder.encode(picture, forceKeyframe: true)
        }
        return (encoded, isHeldToCap)
    }

    private mutating func encode(
        forceKeyframe: Bool,
        _ encode: (any VideoEncoder, Bool) throws(EncoderError) -> EncodedPicture
    ) throws(Failure) -> EncodedPicture {
        var forceKeyframe = forceKeyframe
        while let settings, let encoder {
            do throws(EncoderError) {
                let encoded = try follow(forceKeyframe: forceKeyframe) { force throws(EncoderError) in
                    try encode(encoder, force)
                }
                if let encoded { return encoded }
            } catch {
                self.encoder = nil
                isBroken = true
                choice.failed(error, at: MonotonicClock.now)
                try open(for: settings)
            }
            forceKeyframe = true
        }
        throw .pausing(nil)
    }

    /// Encodes a picture so that it can follow what was put between and a packet has room for it: if not, as a keyframe. Nil where `encode` gives none.
    private mutating func follow(
        forceKeyframe: Bool,
        _ encode: (Bool) throws(EncoderError) -> EncodedPicture?
    ) throws(EncoderError) -> EncodedPicture? {
        var isTooLong = false
        for isKeyframe in forceKeyframe ? [true] : [false, true] {
            guard var encoded = try encode(isKeyframe) else { return nil }
            // Given away, so that it is changed in place.
            let bytes = encoded.bytes
            encoded.bytes = []
            if let bytes = try? stream.live(consume bytes) {
                isTooLong = bytes.count > Self.longestPicture
                encoded.bytes = bytes
                if !isTooLong { return encoded }
            }
        }
        if isTooLong { throw .tooLong(encoder: encoder?.name ?? "") }
        throw .failed(encoder: encoder?.name ?? "", reason: "it made no keyframe when told to")
    }

    // MARK: - DMA-BUF

    /// Encodes a frame in a DMA-BUF, nil where the open encoder takes none. If that fails, the picture is lost: a replacement, which the next one
    /// opens, may be unable to read it.
    mutating func encode(_ buffer: DMABuf, forceKeyframe: Bool) throws(Failure) -> EncodedPicture? {
        try encodeImported(forceKeyframe: forceKeyframe) { encoder, force throws(EncoderError) in
            try encoder.encode(buffer, forceKeyframe: force)
        }
    }

    /// Encodes the picture of the DMA-BUF that was encoded last once more; nil where the open encoder has none.
    mutating func encodeImportedAgain(forceKeyframe: Bool) throws(Failure) -> EncodedPicture? {
        try encodeImported(forceKeyframe: forceKeyframe) { encoder, force throws(EncoderError) in
            try encoder.encodeImportedAgain(forceKeyframe: force)
        }
    }

    private mutating func encodeImported(
        forceKeyframe: Bool,
        _ encode: (any ImportingEncoder, Bool) throws(EncoderError) -> EncodedPicture?
    ) throws(Failure) -> EncodedPicture? {
        guard let importing = encoder as? any ImportingEncoder else { return nil }
        do {
            return try follow(forceKeyframe: forceKeyframe) { force throws(EncoderError) in try encode(importing, force)
            }
        } catch {
            encoder = nil
            isBroken = true
            choice.failed(error, at: MonotonicClock.now)
            throw .pausing(nil)
        }
    }

    // MARK: - Opening

    private var choices: [EncoderEntry] { entry.map { [$0] } ?? catalogue.automaticChoices(for: codec) }

    private mutating func open(for settings: EncoderSettings) throws(Failure) {
        if let unavailability { throw .stopped(unavailability) }
        let choices = choices
        while encoder == nil {
            switch choice.next(among: choices.map(\.name), at: MonotonicClock.now) {
            case .stop(let error): throw .stopped(error)
            case .pause: throw .pausing(choice.trouble)
            case .use(let name):
                guard let entry = choices.first(where: { $0.name == name }) else { throw .pausing(nil) }
                do {
                    encoder = try entry.open(settings)
                    stream = RepeatableStream(codec: codec)
                    choice.opened(at: MonotonicClock.now)
                } catch {
                    choice.refused(error, at: MonotonicClock.now)
                }
            }
        }
        if isBroken { restarts += 1 }
        isBroken = false
        reason = reasonForFallback()
    }

    private func reasonForFallback() -> String? {
        guard entry == nil, let encoder, encoder.name == choices.last?.name else { return nil }
        let failures = choice.dismissals.map(\.description)
        return failures.isEmpty ? catalogue.softwareReason(for: codec) : failures.joined(separator: "; ")
    }
}
