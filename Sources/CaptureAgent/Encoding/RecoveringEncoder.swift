import Media
import Wire

/// A session's encoder, which is reopened or replaced when it fails.
///
/// Owned by the session's encoder thread.
struct RecoveringEncoder: ~Copyable {
    enum Failure: Error {
        /// There is no encoder until the settings change.
        case stopped(EncoderError)
        /// A failed encoder will be tried again later. The value is the passing problem, if it is known.
        case pausing(EncoderError?)
    }

    /// The largest picture that fits into a packet. Leaves room for the message that is added to turned pictures, about
    /// ten bytes.
    private static let longestPicture = AccessUnit.maximumByteCount - 64

    private let catalogue: EncoderCatalogue
    private let codec: Codec
    private let chroma: ChromaSampling
    /// The named encoder; `nil` for `auto`.
    private let entry: EncoderEntry?
    /// Why the requested encoder cannot be used at all.
    let unavailability: EncoderError?
    private var choice = EncoderChoice()
    private var encoder: (any VideoEncoder)? {
        // Stored because it is read for every picture, and a conformance check is slow.
        didSet { imports = encoder is any ImportingEncoder }
    }
    /// Whether the open encoder takes frames in DMA-BUFs.
    private(set) var imports = false
    /// The output of the open encoder, including repeats that were inserted.
    private var stream: RepeatableStream
    /// The settings that the next encoder is opened with.
    private var settings: EncoderSettings?
    /// Whether an encoder has failed and its replacement is not open yet.
    private var isBroken = false
    /// The number of encoders that failed while streaming and were replaced.
    private(set) var restarts: UInt64 = 0
    /// Why this encoder was chosen instead of the session's first choice, as of the last keyframe.
    private(set) var reason: String?

    /// - Parameter name: The encoder's name, or `auto`. An encoder that has not been probed yet is probed here.
    init(name: String, codec: Codec, chroma: ChromaSampling, catalogue: EncoderCatalogue) {
        self.catalogue = catalogue
        self.codec = codec
        self.chroma = chroma
        stream = RepeatableStream(codec: codec)
        guard name != SessionParameters.automaticEncoder else {
            entry = nil
            unavailability = nil
            return
        }
        entry = catalogue.entry(named: name)
        unavailability = Self.unavailability(of: entry, name: name, codec: codec, chroma: chroma, catalogue: catalogue)
    }

    private static func unavailability(
        of entry: EncoderEntry?,
        name: String,
        codec: Codec,
        chroma: ChromaSampling,
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
        guard entry.chroma.contains(chroma) else {
            return .unavailable(encoder: name, reason: "it does not make chroma \(chroma.rawValue)")
        }
        // The codec's own software encoder is known to work, so a probe would only delay the session.
        if catalogue.automaticChoices(for: codec, chroma).last?.name == name { return nil }
        return catalogue.report(on: entry).reason.map { .unavailable(encoder: name, reason: $0) }
    }

    /// The open encoder's name and the settings that it was opened with.
    var opened: (name: String, settings: EncoderSettings)? { encoder.map { ($0.name, $0.settings) } }

    /// Changes the bitrate, the burst and the frame rate without a keyframe.
    ///
    /// - Returns: Whether the open encoder can do this.
    func reconfigure(bitrate: Int, burst: Int, fps: Int) -> Bool {
        encoder?.reconfigure(bitrate: bitrate, burst: burst, fps: fps) ?? true
    }

    /// Makes sure that an encoder is open for pictures of the settings' size.
    ///
    /// - Parameter isKeyframe: Whether the next picture will be a keyframe anyway. Then an encoder with other settings,
    ///   or one that is no longer the best choice, is replaced.
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
            // Closed first, because some devices open only a few encoders at a time.
            self.encoder = nil
            choice.closed()
        }
        try open(for: settings)
    }

    /// Returns a picture that shows the last one again, made without the encoder; `nil` if the stream does not allow
    /// it.
    mutating func skip() -> EncodedPicture? {
        stream.skip().map { EncodedPicture(bytes: $0, isKeyframe: false) }
    }

    /// Returns the last keyframe again if the screen still shows it; `nil` if that is not possible.
    mutating func resendKeyframe() -> EncodedPicture? {
        stream.resendKeyframe().map { EncodedPicture(bytes: $0, isKeyframe: true) }
    }

    /// Whether the last picture was a keyframe from which the relay can continue with repeats.
    var isResumable: Bool { stream.isResumable }

    /// Records the repeats that the relay has made from the last keyframe.
    mutating func follow(_ rested: Rested) {
        stream.follow(inserted: Int(rested.inserted), keyframeWasResent: rested.keyframe != nil)
    }

    /// Whether the stream allows repeats that are made without the encoder.
    var takesRepeats: Bool { stream.admission == .admitted }

    /// Why the open encoder's stream does not allow repeats made without it; `nil` if it does, or if this is not known
    /// yet.
    var repeatRefusal: RepeatRefusal? {
        if case .refused(let refusal) = stream.admission { refusal } else { nil }
    }

    /// Encodes one picture, which must have the prepared encoder's size and chroma. If the encoder fails, its
    /// replacement encodes the picture as a keyframe.
    mutating func encode(_ picture: PlanarPicture, forceKeyframe: Bool) throws(Failure) -> EncodedPicture {
        try encode(forceKeyframe: forceKeyframe) { encoder, force throws(EncoderError) in
            try encoder.encode(picture, forceKeyframe: force)
        }
    }

    /// Encodes a settled picture as a keyframe that can be sent again. If it is too large for a packet, it is encoded
    /// again under the bitrate's cap.
    mutating func encodeStaticKeyframe(
        _ picture: PlanarPicture
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

    /// Encodes a picture that can follow the inserted repeats and fits into a packet, if necessary as a keyframe.
    ///
    /// - Returns: `nil` if `encode` returns `nil`.
    private mutating func follow(
        forceKeyframe: Bool,
        _ encode: (Bool) throws(EncoderError) -> EncodedPicture?
    ) throws(EncoderError) -> EncodedPicture? {
        var isTooLong = false
        for isKeyframe in forceKeyframe ? [true] : [false, true] {
            guard var encoded = try encode(isKeyframe) else { return nil }
            // Moved out, so that it is changed in place.
            let bytes = encoded.bytes
            encoded.bytes = []
            if let bytes = try? stream.live(consume bytes) {
                isTooLong = bytes.count > Self.longestPicture
                encoded.bytes = bytes
                if !isTooLong { return encoded }
            }
        }
        if isTooLong { throw .tooLong(encoder: encoder?.name ?? "") }
        throw .failed(encoder: encoder?.name ?? "", reason: "it made no keyframe on request")
    }

    // MARK: - DMA-BUF

    /// Encodes a frame in a DMA-BUF.
    ///
    /// If the encoder fails, the picture is lost. The next picture opens a replacement, which may be unable to read
    /// DMA-BUFs.
    ///
    /// - Returns: `nil` if the open encoder does not accept DMA-BUFs.
    mutating func encode(_ buffer: DMABuf, forceKeyframe: Bool) throws(Failure) -> EncodedPicture? {
        try encodeImported(forceKeyframe: forceKeyframe) { encoder, force throws(EncoderError) in
            try encoder.encode(buffer, forceKeyframe: force)
        }
    }

    /// Encodes the last imported picture again; returns `nil` if the open encoder has none.
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

    private var choices: [EncoderEntry] { entry.map { [$0] } ?? catalogue.automaticChoices(for: codec, chroma) }

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
        return failures.isEmpty ? catalogue.softwareReason(for: codec, chroma) : failures.joined(separator: "; ")
    }
}
