/// Decides which pictures are keyframes: by time, and on request. Times are those of the pictures' slots.
///
/// Requests are coalesced: the next keyframe answers all that came before it, and requested keyframes stand at least
/// 500 ms apart.
package struct KeyframePolicy: Sendable {
    /// Shortest time between a requested keyframe and the keyframe before it, ns.
    package static let requestSpacing: UInt64 = 500_000_000

    /// Longest time between keyframes, ns.
    private let interval: UInt64
    /// The same while the screen stands still and its keyframe is sent again.
    private let stillInterval: UInt64
    /// Time between slots, ns.
    private var slotInterval: UInt64
    private var lastKeyframe: UInt64?
    /// The time that the last keyframe's bytes are worth, ns.
    private var worth: UInt64 = 0
    /// The last slot of a screen that stood still: motion that begins again needs no keyframe at once.
    private var lastStill: UInt64?
    /// The first slot of a screen that stands still.
    private var stillSince: UInt64?
    private var pendingRequest: UInt32?
    /// Whether a keyframe is wanted by nobody's request.
    private var isAsked = false

    /// - Parameters:
    ///   - interval: Longest time between keyframes, ns; a shorter one than between slots makes every picture a keyframe.
    ///   - stillInterval: Longest time between keyframes that are sent again, ns; not shorter than `interval`.
    ///   - slotInterval: Time between slots, ns.
    package init(interval: UInt64, stillInterval: UInt64, slotInterval: UInt64) {
        self.interval = interval
        self.stillInterval = max(interval, stillInterval)
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
        guard let lastStill, lastStill >= lastKeyframe else { return lastKeyframe + interval }
        let latest = lastKeyframe + longestStillInterval
        // What has stood still for the interval gets the keyframe that is then sent again.
        guard let stillSince, stillSince > lastKeyframe else { return min(lastStill + interval, latest) }
        return min(max(stillSince + interval, lastKeyframe + worth), latest)
    }

    /// Longest time between keyframes that are sent again, ns.
    package var longestStillInterval: UInt64 { max(stillInterval, worth) }

    /// Notes that the screen has changed.
    package mutating func screenChanged() {
        stillSince = nil
    }

    /// Notes that the picture of the slot at `slot` was made without the encoder.
    package mutating func pictureRepeated(at slot: UInt64) {
        lastStill = slot
        stillSince = stillSince ?? slot
    }

    /// Notes that somebody else has repeated the last keyframe up to the slot at `slot`.
    ///
    /// - Parameter keyframe: The slot in which the keyframe was last sent again, nil for none.
    package mutating func keyframeRepeated(upTo slot: UInt64, lastKeyframe keyframe: UInt64?) {
        lastKeyframe = keyframe ?? lastKeyframe
        pictureRepeated(at: slot)
    }

    /// Notes that the picture of the slot at `slot` is a keyframe; returns the request that it answers, 0 for none.
    ///
    /// - Parameter worth: For how long at least it is not made again while the screen stands still, unless it is asked for, ns.
    package mutating func keyframeMade(at slot: UInt64, worth: UInt64 = 0) -> UInt32 {
        lastKeyframe = slot
        self.worth = worth
        isAsked = false
        defer { pendingRequest = nil }
        return pendingRequest ?? 0
    }
}
