/// What kind of unit it is.
package struct UnitFlags: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// An IDR picture that carries its parameter sets: decoding can begin here.
    package static let key = UnitFlags(rawValue: 1 << 0)
    /// The last frame once more, because the screen did not change.
    package static let `repeat` = UnitFlags(rawValue: 1 << 1)
    /// A repeat made without the encoder: a picture of skipped blocks alone, or the last keyframe sent again.
    package static let skip = UnitFlags(rawValue: 1 << 2)
}

/// What is known of a unit beside its bytes.
package struct UnitHeader: Sendable, Equatable {
    package var track: MediaTrack.ID
    /// Presentation time, in µs. A picture's is its output slot's since the session's epoch. Strictly increasing in a track.
    package var pts: Int64
    /// When the frame was captured, on the machine's monotonic clock in ns.
    package var captured: UInt64
    /// When encoding began, monotonic ns.
    package var encodeStart: UInt64
    /// When encoding ended, monotonic ns.
    package var encodeEnd: UInt64
    package var flags: UnitFlags
    /// The id of the keyframe request that this keyframe answers; 0 if it answers none.
    package var keyframeRequest: UInt32
    /// Clockwise rotation that a player applies to a picture, in quarter turns, 0 to 3.
    package var orientation: UInt8
    /// A picture's size; 0x0 in other tracks.
    package var size: PictureSize

    /// Whether decoding can begin here.
    @inlinable
    package var isKey: Bool { flags.contains(.key) }

    package init(
        track: MediaTrack.ID = MediaTrack.videoID,
        pts: Int64,
        captured: UInt64,
        encodeStart: UInt64,
        encodeEnd: UInt64,
        flags: UnitFlags,
        keyframeRequest: UInt32 = 0,
        orientation: UInt8 = 0,
        size: PictureSize
    ) {
        self.track = track
        self.pts = pts
        self.captured = captured
        self.encodeStart = encodeStart
        self.encodeEnd = encodeEnd
        self.flags = flags
        self.keyframeRequest = keyframeRequest
        self.orientation = orientation
        self.size = size
    }
}

/// One unit of a track, with the moments that its latency is computed from: an access unit or an audio packet.
package struct EncodedUnit<Bytes: MediaBytes>: Sendable, Equatable {
    package typealias Flags = UnitFlags

    package var header: UnitHeader
    /// A picture's are in Annex B form: start codes, and the parameter sets before every IDR.
    package var bytes: Bytes

    package init(_ header: UnitHeader, _ bytes: Bytes) {
        self.header = header
        self.bytes = bytes
    }

    package init(
        pts: Int64,
        captured: UInt64,
        encodeStart: UInt64,
        encodeEnd: UInt64,
        flags: UnitFlags,
        keyframeRequest: UInt32 = 0,
        orientation: UInt8 = 0,
        size: PictureSize,
        bytes: Bytes
    ) {
        header = UnitHeader(
            pts: pts,
            captured: captured,
            encodeStart: encodeStart,
            encodeEnd: encodeEnd,
            flags: flags,
            keyframeRequest: keyframeRequest,
            orientation: orientation,
            size: size
        )
        self.bytes = bytes
    }
}

/// One encoded picture.
package typealias AccessUnit = EncodedUnit<[UInt8]>

/// The header's fields.
extension EncodedUnit {
    @inlinable
    package var pts: Int64 {
        get { header.pts }
        set { header.pts = newValue }
    }
    @inlinable
    package var captured: UInt64 {
        get { header.captured }
        set { header.captured = newValue }
    }
    @inlinable
    package var encodeStart: UInt64 {
        get { header.encodeStart }
        set { header.encodeStart = newValue }
    }
    @inlinable
    package var encodeEnd: UInt64 {
        get { header.encodeEnd }
        set { header.encodeEnd = newValue }
    }
    @inlinable
    package var flags: UnitFlags {
        get { header.flags }
        set { header.flags = newValue }
    }
    @inlinable
    package var keyframeRequest: UInt32 {
        get { header.keyframeRequest }
        set { header.keyframeRequest = newValue }
    }
    @inlinable
    package var orientation: UInt8 {
        get { header.orientation }
        set { header.orientation = newValue }
    }
    @inlinable
    package var size: PictureSize {
        get { header.size }
        set { header.size = newValue }
    }
    @inlinable
    package var isKey: Bool { header.isKey }
}
