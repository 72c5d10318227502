package import Media

/// What the agent is to encode for a session.
package struct SessionParameters: Sendable, Equatable, Codable {
    package var codec: Codec
    /// The encoder's name, or ``automaticEncoder``.
    package var encoder: String
    package var size: RequestedSize
    /// Output slots per second, 1 to 240.
    package var fps: Int
    /// bit/s.
    package var bitrate: Int
    /// Whether the last picture is output again while the screen is static.
    package var `repeat`: Bool
    /// Longest time between keyframes, ms.
    package var keyframeInterval: Int
    /// Longest time between keyframes while the screen is static and repeats are made without the encoder, ms; what is
    /// shorter than `keyframeInterval` counts as that.
    package var staticKeyframeInterval: Int
    /// Whether the session is encoded. One that is not is known to the agent and costs nothing. Absent on the wire when it is.
    package var isActive: Bool {
        get { activity ?? true }
        set { activity = newValue ? nil : false }
    }
    /// The monotonic instant that PTS 0 stands for, ns. Agents of one machine share the clock, so they feed one timeline.
    package var epoch: UInt64

    private var activity: Bool?

    private enum CodingKeys: String, CodingKey {
        case codec, encoder, size, fps, bitrate, `repeat`, keyframeInterval, epoch
        // Version 1 of the protocol has this name.
        case staticKeyframeInterval = "stillKeyframeInterval"
        case activity = "active"
    }

    /// Stands for a hardware encoder that works, else the codec's own in software.
    package static let automaticEncoder = "auto"

    /// ms.
    package static let defaultStaticKeyframeInterval = 10_000

    package init(
        codec: Codec,
        encoder: String = automaticEncoder,
        size: RequestedSize,
        fps: Int,
        bitrate: Int,
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
    }

    /// What is out of range, for a person; nil when all is well.
    package var problem: String? {
        let sides = [size.width, size.height].compactMap { $0 }
        return if !(1...240).contains(fps) {
            "fps is \(fps); allowed: 1 to 240"
        } else if !(1...1_000_000_000).contains(bitrate) {
            "bitrate is \(bitrate); allowed: 1 to 1,000,000,000"
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

/// What changes in a running session. What is nil stays.
package struct SessionUpdate: Sendable, Equatable, Codable {
    /// bit/s.
    package var bitrate: Int?
    /// Output slots per second, 1 to 240.
    package var fps: Int?
    /// Takes the place of the whole requested size.
    package var size: RequestedSize?
    /// Whether the session is encoded from now on.
    package var isActive: Bool?

    private enum CodingKeys: String, CodingKey {
        case bitrate, fps, size
        case isActive = "active"
    }

    package init(bitrate: Int? = nil, fps: Int? = nil, size: RequestedSize? = nil, isActive: Bool? = nil) {
        self.bitrate = bitrate
        self.fps = fps
        self.size = size
        self.isActive = isActive
    }

    /// `parameters` with this change.
    package func applied(to parameters: SessionParameters) -> SessionParameters {
        var parameters = parameters
        parameters.bitrate = bitrate ?? parameters.bitrate
        parameters.fps = fps ?? parameters.fps
        parameters.size = size ?? parameters.size
        parameters.isActive = isActive ?? parameters.isActive
        return parameters
    }
}
