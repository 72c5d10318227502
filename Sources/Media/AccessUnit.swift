/// One encoded picture in Annex B form, with the moments that its latency is computed from.
package struct AccessUnit: Sendable, Equatable {
    /// What kind of picture it is.
    package struct Flags: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// An IDR picture that carries its parameter sets: decoding can begin here.
        package static let key = Flags(rawValue: 1 << 0)
        /// The last frame once more, because the screen stood still.
        package static let `repeat` = Flags(rawValue: 1 << 1)
        /// A repeat made without the encoder: a picture of skipped blocks alone, or the last keyframe sent again.
        package static let skip = Flags(rawValue: 1 << 2)
    }

    /// Presentation time: the output slot's, in µs since the session's epoch. Strictly increasing in a session.
    package var pts: Int64
    /// When the frame was captured, on the machine's monotonic clock in ns.
    package var captured: UInt64
    /// When encoding began, monotonic ns.
    package var encodeStart: UInt64
    /// When encoding ended, monotonic ns.
    package var encodeEnd: UInt64
    package var flags: Flags
    /// Whether decoding can begin here.
    package var isKey: Bool { flags.contains(.key) }
    /// The id of the keyframe request that this keyframe answers, 0 when it answers none.
    package var keyframeRequest: UInt32
    /// Clockwise rotation that a player applies, in quarter turns, 0 to 3.
    package var orientation: UInt8
    package var size: PictureSize
    /// Annex B bytes: start codes, and the parameter sets before every IDR.
    package var bytes: [UInt8]

    package init(
        pts: Int64,
        captured: UInt64,
        encodeStart: UInt64,
        encodeEnd: UInt64,
        flags: Flags,
        keyframeRequest: UInt32 = 0,
        orientation: UInt8 = 0,
        size: PictureSize,
        bytes: [UInt8]
    ) {
        self.pts = pts
        self.captured = captured
        self.encodeStart = encodeStart
        self.encodeEnd = encodeEnd
        self.flags = flags
        self.keyframeRequest = keyframeRequest
        self.orientation = orientation
        self.size = size
        self.bytes = bytes
    }
}
