/// Decides which pictures are keyframes: by time, and on request. Times are those of the pictures' slots.
///
/// Requests are coalesced: the next keyframe answers all that came before it, and requested keyframes stand at least
/// 500 ms apart.
package struct KeyframePolicy: Sendable {
    /// Shortest time between a requested keyframe and the keyframe before it, ns.
    package static let requestSpacing: UInt64 = 500_000_000

    /// Longest time between keyframes, ns.
    private let interval: UInt64
    /// The same while the screen is static and its keyframe is sent again.
    private let staticInterval: UInt64
    /// Time between slots, ns.
    private var slotInterval: UInt64
    private var lastKeyframe: UInt64?
    /// Slots that had no picture since the session began, because the machine was too busy.
    ///
    /// They do not bring the next keyframe nearer: else each picture of a session that is far behind would be one, which takes
    /// longer and would keep it behind.
    package var missedSlots: UInt64 = 0
    /// The same when the last keyframe was made.
    private var missedAtKeyframe: UInt64 = 0
    /// The time that the last keyframe's bytes are worth, ns.
    private var worth: UInt64 = 0
    /// The last slot of a screen that was static: motion that begins again needs no keyframe at once.
    private var lastStatic: UInt64?
    /// The first slot of a screen that is static.
    private var staticSince: UInt64?
    private var pendingRequest: UInt32?
    /// Whether a keyframe is wanted by nobody's request.
    private var isAsked = false

    /// - Parameters:
    ///   - interval: Longest time between keyframes, ns; a shorter one than between slots makes every picture a keyframe.
    ///   - staticInterval: Longest time between keyframes that are sent again, ns; not shorter than `interval`.
    ///   - slotInterval: Time between slots, ns.
    package init(interval: UInt64, staticInterval: UInt64, slotInterval: UInt64) {
        self.interval = interval
        self.staticInterval = max(interval, staticInterval)
        self.slotInterval = slotInterval
    }

    /// Asks for a keyframe that carries `id`.
    package mutating func request(_ id: UInt32) {
        pendingRequest = id
    }

    /// Asks for a keyframe on the session's own behalf. It waits as long as a requested one would.
    package mutating func ask() {
        isAsked = true
    }

    /// Goes on with another time between slots, ns.
    package mutating func changeRate(slotInterval: UInt64) {
        self.slotInterval = slotInterval
    }

    /// Forgets the last keyframe, because it or a picture after it was lost: the next picture has to be a keyframe.
    package mutating func restart() {
        lastKeyframe = nil
    }

    /// From when on somebody waits for a keyframe, nil when nobody does.
    package var demandTime: UInt64? {
        guard let lastKeyframe else { return 0 }
        return pendingRequest == nil && !isAsked ? nil : lastKeyframe + Self.requestSpacing
    }

    /// Whether the picture of the slot at `slot` has to be a keyframe.
    package func wantsKeyframe(at slot: UInt64) -> Bool {
        guard let lastKeyframe else { return true }
        // At the next slot it would be too late.
        if slot + slotInterval > dueTime(after: lastKeyframe) { return true }
        return demandTime.map { slot >= $0 } ?? false
    }

    private func dueTime(after lastKeyframe: UInt64) -> UInt64 {
        guard let lastStatic, lastStatic >= lastKeyframe else { return lastKeyframe + interval + missedTime }
        let latest = lastKeyframe + longestStaticInterval
        // What has been static for the interval gets the keyframe that is then sent again.
        guard let staticSince, staticSince > lastKeyframe else { return min(lastStatic + interval, latest) }
        return min(max(staticSince + interval, lastKeyframe + worth), latest)
    }

    /// Time of the slots missed since the last keyframe, ns.
    private var missedTime: UInt64 { (missedSlots - min(missedAtKeyframe, missedSlots)) * slotInterval }

    /// Longest time between keyframes that are sent again, ns.
    package var longestStaticInterval: UInt64 { max(staticInterval, worth) }

    /// Notes that the screen has changed.
    package mutating func screenChanged() {
        staticSince = nil
    }

    /// Notes that the picture of the slot at `slot` was made without the encoder.
    package mutating func pictureRepeated(at slot: UInt64) {
        lastStatic = slot
        staticSince = staticSince ?? slot
    }

    /// Notes that somebody else has repeated the last keyframe up to the slot at `slot`.
    ///
    /// - Parameter keyframe: The slot in which the keyframe was last sent again, nil for none.
    package mutating func keyframeRepeated(upTo slot: UInt64, lastKeyframe keyframe: UInt64?) {
        if let keyframe { (lastKeyframe, missedAtKeyframe) = (keyframe, missedSlots) }
        pictureRepeated(at: slot)
    }

    /// Notes that the picture of the slot at `slot` is a keyframe; returns the request that it answers, 0 for none.
    ///
    /// - Parameter worth: For how long at least it is not made again while the screen is static, unless it is asked for, ns.
    package mutating func keyframeMade(at slot: UInt64, worth: UInt64 = 0) -> UInt32 {
        (lastKeyframe, missedAtKeyframe) = (slot, missedSlots)
        self.worth = worth
        isAsked = false
        defer { pendingRequest = nil }
        return pendingRequest ?? 0
    }
}
