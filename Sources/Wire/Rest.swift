/// A message that hands a session's repeats to the relay.
///
/// The session *rests* until the agent wakes it or the relay cannot continue. The last access unit before it is a
/// keyframe from which the stream can continue (`RepeatableStream.isResumable`).
package struct Rest: Sendable, Equatable, Codable {
    /// The keyframe's PTS, in µs.
    package var keyframe: Int64
    /// The first slot to fill, in monotonic ns.
    package var slot: UInt64
    /// Slots per second, 1 to 240.
    package var fps: Int
    /// The longest time until the keyframe is sent again, in ns.
    package var keyframeInterval: UInt64

    package init(keyframe: Int64, slot: UInt64, fps: Int, keyframeInterval: UInt64) {
        self.keyframe = keyframe
        self.slot = slot
        self.fps = fps
        self.keyframeInterval = keyframeInterval
    }
}

/// A message with which the relay hands a resting session back: what became of the agent's slots meanwhile.
package struct Rested: Sendable, Equatable, Codable {
    /// The number of slots that were filled or passed over.
    package var slots: UInt32
    /// The number of skip pictures since the keyframe was last sent.
    package var inserted: UInt32
    /// The slot in which the keyframe was last sent again, in monotonic ns; `nil` if it was not.
    package var keyframe: UInt64?

    package init(slots: UInt32 = 0, inserted: UInt32 = 0, keyframe: UInt64? = nil) {
        self.slots = slots
        self.inserted = inserted
        self.keyframe = keyframe
    }
}
