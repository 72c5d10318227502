/// Decides which pictures are keyframes: by time, and on request. Times are those of the pictures' slots, in ns.
///
/// Requests are coalesced: the next keyframe answers all earlier requests. A requested keyframe comes at least 500 ms
/// after the keyframe before it.
package struct KeyframePolicy: Sendable {
    /// The shortest time between a requested keyframe and the keyframe before it, in ns.
    package static let requestSpacing: UInt64 = 500_000_000

    /// The longest time between keyframes, in ns.
    private let interval: UInt64
    /// The longest time between keyframes while the screen is static and its keyframe is sent again, in ns.
    private let staticInterval: UInt64
    /// The time between slots, in ns.
    private var slotInterval: UInt64
    private var lastKeyframe: UInt64?
    /// The number of slots without a picture since the session began, because the machine was too busy.
    ///
    /// They do not bring the next keyframe nearer. Otherwise every picture of a session that is far behind would be a
    /// keyframe, which takes longer and would keep it behind.
    package var missedSlots: UInt64 = 0
    /// The value of ``missedSlots`` when the last keyframe was made.
    private var missedAtKeyframe: UInt64 = 0
    /// How long the last keyframe must serve because of its size, in ns.
    private var worth: UInt64 = 0
    /// The last slot while the screen was static. Motion that starts again needs no keyframe at once.
    private var lastStatic: UInt64?
    /// The first slot since the screen has been static.
    private var staticSince: UInt64?
    private var pendingRequest: UInt32?
    /// Whether the session itself wants a keyframe.
    private var isAsked = false

    /// - Parameters:
    ///   - interval: The longest time between keyframes, in ns. If it is shorter than `slotInterval`, every picture is
    ///     a keyframe.
    ///   - staticInterval: The longest time between keyframes that are sent again, in ns; not shorter than `interval`.
    ///   - slotInterval: The time between slots, in ns.
    package init(interval: UInt64, staticInterval: UInt64, slotInterval: UInt64) {
        self.interval = interval
        self.staticInterval = max(interval, staticInterval)
        self.slotInterval = slotInterval
    }

    /// Asks for a keyframe that carries `id`.
    package mutating func request(_ id: UInt32) {
        pendingRequest = id
    }

    /// Asks for a keyframe on the session's own behalf. It waits as long as a requested one.
    package mutating func ask() {
        isAsked = true
    }

    /// Continues with another time between slots, in ns.
    package mutating func changeRate(slotInterval: UInt64) {
        self.slotInterval = slotInterval
    }

    /// Forgets the last keyframe, because it or a later picture was lost. The next picture must be a keyframe.
    package mutating func restart() {
        lastKeyframe = nil
    }

    /// The time from which a keyframe is wanted; `nil` if none is wanted.
    package var demandTime: UInt64? {
        guard let lastKeyframe else { return 0 }
        return pendingRequest == nil && !isAsked ? nil : lastKeyframe + Self.requestSpacing
    }

    /// Returns whether the picture of the slot at `slot` must be a keyframe.
    package func wantsKeyframe(at slot: UInt64) -> Bool {
        guard let lastKeyframe else { return true }
        // The next slot would be too late.
        if slot + slotInterval > dueTime(after: lastKeyframe) { return true }
        return demandTime.map { slot >= $0 } ?? false
    }

    private func dueTime(after lastKeyframe: UInt64) -> UInt64 {
        guard let lastStatic, lastStatic >= lastKeyframe else { return lastKeyframe + interval + missedTime }
        let latest = lastKeyframe + longestStaticInterval
        // After being static for the interval, the screen gets the keyframe that is then sent again.
        guard let staticSince, staticSince > lastKeyframe else { return min(lastStatic + interval, latest) }
        return min(max(staticSince + interval, lastKeyframe + worth), latest)
    }

    /// The duration of the slots missed since the last keyframe, in ns.
    private var missedTime: UInt64 { (missedSlots - min(missedAtKeyframe, missedSlots)) * slotInterval }

    /// The longest time between keyframes that are sent again, in ns.
    package var longestStaticInterval: UInt64 { max(staticInterval, worth) }

    /// Records that the screen has changed.
    package mutating func screenChanged() {
        staticSince = nil
    }

    /// Records that the picture of the slot at `slot` was made without the encoder.
    package mutating func pictureRepeated(at slot: UInt64) {
        lastStatic = slot
        staticSince = staticSince ?? slot
    }

    /// Records that the relay has repeated the last keyframe up to the slot at `slot`.
    ///
    /// - Parameter keyframe: The slot in which the keyframe was last sent again; `nil` for none.
    package mutating func keyframeRepeated(upTo slot: UInt64, lastKeyframe keyframe: UInt64?) {
        if let keyframe { (lastKeyframe, missedAtKeyframe) = (keyframe, missedSlots) }
        pictureRepeated(at: slot)
    }

    /// Records that the picture of the slot at `slot` is a keyframe.
    ///
    /// - Parameter worth: The shortest time until it is made again while the screen is static, unless requested, in ns.
    /// - Returns: The request that it answers; 0 for none.
    package mutating func keyframeMade(at slot: UInt64, worth: UInt64 = 0) -> UInt32 {
        (lastKeyframe, missedAtKeyframe) = (slot, missedSlots)
        self.worth = worth
        isAsked = false
        defer { pendingRequest = nil }
        return pendingRequest ?? 0
    }
}
