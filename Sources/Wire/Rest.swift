/// An agent hands a session's repeats to the relay: the session *rests* until the agent wakes it, or the relay cannot go on.
///
/// The last access unit before it is a keyframe that the stream goes on from (`RepeatableStream.isResumable`).
package struct Rest: Sendable, Equatable, Codable {
    /// The keyframe's PTS, µs.
    package var keyframe: Int64
    /// The first slot to fill, monotonic ns.
    package var slot: UInt64
    /// Slots per second, 1 to 240.
    package var fps: Int
    /// Longest time between the keyframe and its being sent again, ns.
    package var keyframeInterval: UInt64

    package init(keyframe: Int64, slot: UInt64, fps: Int, keyframeInterval: UInt64) {
        self.keyframe = keyframe
        self.slot = slot
        self.fps = fps
        self.keyframeInterval = keyframeInterval
    }
}

/// The relay gives a session that rested back: what came of the agent's slots meanwhile.
package struct Rested: Sendable, Equatable, Codable {
    /// Slots that were filled or passed over.
    package var slots: UInt32
    /// Skip pictures since the keyframe was last sent.
    package var inserted: UInt32
    /// The slot in which the keyframe was last sent again, monotonic ns; nil when it was not.
    package var keyframe: UInt64?

    package init(slots: UInt32 = 0, inserted: UInt32 = 0, keyframe: UInt64? = nil) {
        self.slots = slots
        self.inserted = inserted
        self.keyframe = keyframe
    }
}
