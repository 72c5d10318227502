package import Media

/// The parameters by which the agent encodes a session.
package struct SessionParameters: Sendable, Equatable, Codable {
    package var codec: Codec
    /// Absent on the wire for 4:2:0.
    package var chroma: ChromaSampling {
        get { sampling ?? .quarter }
        set { sampling = newValue == .quarter ? nil : newValue }
    }
    /// The encoder's name, or ``automaticEncoder``.
    package var encoder: String
    package var size: RequestedSize
    /// Output slots per second, 1 to 240.
    package var fps: Int
    /// The highest bitrate, in bit/s.
    package var bitrate: Int
    /// How much the encoder may send at once, as the time that it takes at the bitrate, in ms. Absent on the wire for
    /// ``defaultBurst``.
    package var burst: Int {
        get { burstTime ?? Self.defaultBurst }
        set { burstTime = newValue == Self.defaultBurst ? nil : newValue }
    }
    /// Whether the last picture is output again while the screen is static.
    package var `repeat`: Bool
    /// The longest time between keyframes, in ms.
    package var keyframeInterval: Int
    /// The longest time between keyframes while the screen is static and repeats are made without the encoder, in ms. A
    /// value below `keyframeInterval` counts as `keyframeInterval`.
    package var staticKeyframeInterval: Int
    /// Whether the session is encoded. If not, the agent knows it, at no cost. Absent on the wire if it is.
    package var isActive: Bool {
        get { activity ?? true }
        set { activity = newValue ? nil : false }
    }
    /// The monotonic time of PTS 0, in ns. All agents on a machine share the clock, so they feed one timeline.
    package var epoch: UInt64

    private var activity: Bool?
    private var burstTime: Int?
    private var sampling: ChromaSampling?

    private enum CodingKeys: String, CodingKey {
        case codec, encoder, size, fps, bitrate, `repeat`, keyframeInterval, epoch
        // The name in version 1 of the protocol.
        case staticKeyframeInterval = "stillKeyframeInterval"
        case activity = "active"
        case burstTime = "burst"
        case sampling = "chroma"
    }

    /// The choice of a working hardware encoder, otherwise of the codec's own software encoder.
    package static let automaticEncoder = "auto"

    /// The default of ``burst``, in ms.
    package static let defaultBurst = EncoderSettings.defaultBurst

    /// The default of ``staticKeyframeInterval``, in ms.
    package static let defaultStaticKeyframeInterval = 10_000

    package init(
        codec: Codec,
        chroma: ChromaSampling = .quarter,
        encoder: String = automaticEncoder,
        size: RequestedSize,
        fps: Int,
        bitrate: Int,
        burst: Int = defaultBurst,
        repeat: Bool,
        keyframeInterval: Int,
        staticKeyframeInterval: Int = defaultStaticKeyframeInterval,
        epoch: UInt64,
        isActive: Bool = true
    ) {
        self.codec = codec
        self.encoder = encoder
        self.size = size
        self.fps = fps
        self.bitrate = bitrate
        self.repeat = `repeat`
        self.keyframeInterval = keyframeInterval
        self.staticKeyframeInterval = staticKeyframeInterval
        self.epoch = epoch
        self.isActive = isActive
        self.burst = burst
        self.chroma = chroma
    }

    /// Which parameter is out of range, for people; `nil` if all are valid.
    package var problem: String? {
        let sides = [size.width, size.height].compactMap { $0 }
        return if !(1...240).contains(fps) {
            "fps is \(fps); allowed: 1 to 240"
        } else if !(1...1_000_000_000).contains(bitrate) {
            "bitrate is \(bitrate); allowed: 1 to 1,000,000,000"
        } else if !(50...10_000).contains(burst) {
            "burst is \(burst) ms; allowed: 50 to 10,000"
        } else if !(1...64).contains(encoder.utf8.count) {
            "the encoder's name has \(encoder.utf8.count) bytes; allowed: 1 to 64"
        } else if !(1...86_400_000).contains(keyframeInterval) {
            "keyframeInterval is \(keyframeInterval) ms; allowed: 1 to 86,400,000"
        } else if !(1...86_400_000).contains(staticKeyframeInterval) {
            "stillKeyframeInterval is \(staticKeyframeInterval) ms; allowed: 1 to 86,400,000"
        } else if !sides.allSatisfy((2...8192).contains) {
            "a side is \(sides.map(String.init).joined(separator: "x")); allowed: 2 to 8192"
        } else if let maxPixels = size.maxPixels, maxPixels < 4 {
            "maxPixels is \(maxPixels); allowed: 4 and more"
        } else if epoch > UInt64(Int64.max) {
            "the epoch is \(epoch): it lies beyond any clock"
        } else {
            nil
        }
    }
}

/// A change of a running session. A `nil` value stays as it is.
package struct SessionUpdate: Sendable, Equatable, Codable {
    /// The highest bitrate, in bit/s.
    package var bitrate: Int?
    /// How much may be sent at once, in ms.
    package var burst: Int?
    /// Output slots per second, 1 to 240.
    package var fps: Int?
    /// Replaces the whole requested size.
    package var size: RequestedSize?
    /// Whether the session is encoded from now on.
    package var isActive: Bool?

    private enum CodingKeys: String, CodingKey {
        case bitrate, burst, fps, size
        case isActive = "active"
    }

    package init(
        bitrate: Int? = nil,
        burst: Int? = nil,
        fps: Int? = nil,
        size: RequestedSize? = nil,
        isActive: Bool? = nil
    ) {
        self.bitrate = bitrate
        self.burst = burst
        self.fps = fps
        self.size = size
        self.isActive = isActive
    }

    /// Returns `parameters` with this change.
    package func applied(to parameters: SessionParameters) -> SessionParameters {
        var parameters = parameters
        parameters.bitrate = bitrate ?? parameters.bitrate
        parameters.burst = burst ?? parameters.burst
        parameters.fps = fps ?? parameters.fps
        parameters.size = size ?? parameters.size
        parameters.isActive = isActive ?? parameters.isActive
        return parameters
    }
}
