/// An encoded picture, or a packet of sound, with its times.
public struct MediaUnit: Sendable {
    public enum Content: Sendable {
        /// An access unit in Annex B, which begins with its parameter sets if it is a keyframe.
        case picture(PictureFormat)
        /// A packet of Opus.
        case sound(track: UInt16)
    }

    public let content: Content
    /// When it is presented, µs since the session's epoch. Sound and picture of the same time belong together. It
    /// increases strictly in a track, until ``LiveEvent/connected(_:)`` has another session or another epoch.
    public let pts: Int64
    /// Whether decoding can begin here.
    public let isKeyframe: Bool
    /// Whether the screen was static, so that this picture repeats the last one.
    public let isRepeat: Bool
    /// Whether digital silence follows, until the track's next unit.
    public let isSilent: Bool
    /// Whether sound before this packet was lost. The decoder goes on.
    public let isAfterGap: Bool
    /// When its frame or its first sample was captured, ns on the monotonic clock of the relay's machine. A repeat has
    /// the time of the frame that it repeats.
    public let captured: UInt64
    /// When its encoding ended, likewise; `nil` for sound.
    public let encoded: UInt64?
    /// When the relay had it, likewise.
    public let relayed: UInt64
    /// When this program had it, ns on the monotonic clock of this machine.
    public let received: UInt64
    /// How many units before it the relay or this program left out, because this program or its network was too slow.
    public internal(set) var dropped = 0
    public let bytes: [UInt8]

    package init(
        content: Content,
        pts: Int64,
        isKeyframe: Bool,
        isRepeat: Bool = false,
        isSilent: Bool = false,
        isAfterGap: Bool = false,
        captured: UInt64,
        encoded: UInt64? = nil,
        relayed: UInt64,
        received: UInt64,
        bytes: [UInt8]
    ) {
        (self.content, self.pts, self.bytes) = (content, pts, bytes)
        (self.isKeyframe, self.isRepeat) = (isKeyframe, isRepeat)
        (self.isSilent, self.isAfterGap) = (isSilent, isAfterGap)
        (self.captured, self.encoded, self.relayed, self.received) = (captured, encoded, relayed, received)
    }
}

/// How a picture is encoded.
public struct PictureFormat: Sendable, Hashable {
    /// As of RFC 6381: `avc3.42C01F`, `hev1.1.6.L93.90`.
    public let codec: String
    /// Pixels of the encoded picture.
    public let width: Int
    public let height: Int
    /// The clockwise quarter turns that a player applies, 0 to 3.
    public internal(set) var orientation: Int
    /// What places in the picture mean: see ``Input/Place``. 0 if that is unknown.
    public internal(set) var geometry: UInt32
    /// The parameter sets, Annex B.
    public let parameterSets: [UInt8]

    package init(
        codec: String,
        width: Int,
        height: Int,
        orientation: Int = 0,
        geometry: UInt32 = 0,
        parameterSets: [UInt8]
    ) {
        (self.codec, self.width, self.height) = (codec, width, height)
        (self.orientation, self.geometry, self.parameterSets) = (orientation, geometry, parameterSets)
    }
}
