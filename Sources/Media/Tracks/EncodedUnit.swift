/// Flags that describe a unit.
package struct UnitFlags: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A unit at which decoding can start: an IDR picture with its parameter sets, or any packet of sound.
    package static let key = UnitFlags(rawValue: 1 << 0)
    /// A repeat of the last frame, because the screen did not change.
    package static let `repeat` = UnitFlags(rawValue: 1 << 1)
    /// A repeat made without the encoder: a picture of skipped blocks only, or the last keyframe sent again.
    package static let skip = UnitFlags(rawValue: 1 << 2)
    /// The last packet before digital silence, which lasts until the track's next unit.
    package static let silence = UnitFlags(rawValue: 1 << 3)
    /// A packet that follows lost sound. The relay sets it.
    package static let gap = UnitFlags(rawValue: 1 << 4)
}

/// The properties of a unit besides its bytes.
package struct UnitHeader: Sendable, Equatable {
    package var track: MediaTrack.ID
    /// Presentation time, in µs; strictly increasing in a track. A picture's is that of its output slot since the
    /// session's epoch.
    package var pts: Int64
    /// Capture time of the frame, in ns (monotonic).
    package var captured: UInt64
    /// When encoding began, in ns (monotonic).
    package var encodeStart: UInt64
    /// When encoding ended, in ns (monotonic).
    package var encodeEnd: UInt64
    package var flags: UnitFlags
    /// The id of the keyframe request that this keyframe answers; 0 if it answers none.
    package var keyframeRequest: UInt32
    /// The clockwise rotation that a player must apply to a picture, in quarter turns, 0 to 3.
    package var orientation: UInt8
    /// The picture's size; 0x0 in other tracks.
    package var size: PictureSize
    /// The number that stands for what places in the picture mean on the captured screen; 0 if unknown.
    package var geometry: UInt32
    /// How loud a unit of sound is; `nil` if unknown.
    package var level: SoundLevel?

    /// Whether decoding can start here.
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
        size: PictureSize,
        geometry: UInt32 = 0,
        level: SoundLevel? = nil
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
        self.geometry = geometry
        self.level = level
    }
}

/// One unit of a track (an access unit or an audio packet), with the times that its latency is computed from.
package struct EncodedUnit<Bytes: MediaBytes>: Sendable, Equatable {
    package typealias Flags = UnitFlags

    package var header: UnitHeader
    /// The unit's bytes. A picture's are in Annex B form: start codes, and parameter sets before every IDR picture.
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
        geometry: UInt32 = 0,
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
            size: size,
            geometry: geometry
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
    package var geometry: UInt32 {
        get { header.geometry }
        set { header.geometry = newValue }
    }
    @inlinable
    package var isKey: Bool { header.isKey }
}
