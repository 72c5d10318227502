package import Media
package import NIOCore
package import Wire

/// The pictures of one session on their way from its agents to the viewers, and what is kept of them for joiners.
package struct SessionFeed: Sendable {
    package struct Limits: Sendable {
        /// Most bytes kept since the last keyframe; beyond them nothing is kept until the next one.
        package var cachedBytes = 8 << 20
        /// How old the last keyframe may be for a joiner to begin there.
        package var joinAge = TimeAmount.milliseconds(500)

        package init() {}
    }

    private struct Keyframe {
        /// As its agent sent it.
        let accessUnit: AccessUnit
        let role: AgentRole
    }

    private let codec: Codec
    private let packetized: Bool
    /// The monotonic instant of PTS 0, ns.
    private let epoch: UInt64
    private var cache: PictureCache
    /// Which agent's pictures they are.
    package var feeds: FeedSwitch

    /// The largest PTS that fits scrcpy's packets, and more than any clock reaches.
    private static let largestPTS = Int64(1) << 62 - 1
    /// How far a PTS may be ahead of the clock, µs. Agent and relay read one clock: more is nonsense.
    private static let longestLead: Int64 = 60_000_000
    /// Least distance of two PTS, µs: more than a tick of the 90 kHz clock of transport streams, so that they differ there, too.
    private static let leastStep: Int64 = 12
    /// Viewers' last PTS. It outlives agents: they feed one timeline.
    private var lastPTS: Int64?
    /// The last access unit where it is a keyframe.
    private var lastKeyframe: Keyframe?
    /// Viewers' last picture if it is a keyframe, Annex B. It outlives agents, too.
    private var keyframeBefore: [UInt8]?

    /// Pictures that viewers were given or would have been, bytes, and access units that were not: no keyframe came before them, or another agent feeds.
    package private(set) var pictures: UInt64 = 0
    package private(set) var bytes: UInt64 = 0
    package private(set) var keyframes: UInt64 = 0
    package private(set) var discarded: UInt64 = 0
    /// The last picture's size, once known.
    package private(set) var size: PictureSize?
    /// Clockwise quarter turns that a player of the last picture applies, 0 to 3, once known.
    package private(set) var orientation: UInt8?

    /// Whether an access unit of the current agent is lost, and no keyframe has come since.
    package private(set) var awaitsKeyframe = false

    /// Whether pictures flow: a keyframe has come from an agent that is linked still.
    package var flows: Bool { feeds.current != nil }

    /// - Parameter epoch: The monotonic instant of PTS 0, ns.
    package init(codec: Codec, packetized: Bool, epoch: UInt64, feeds: FeedSwitch.Policy, limits: Limits = Limits()) {
        self.epoch = epoch
        self.codec = codec
        self.packetized = packetized
        self.feeds = FeedSwitch(policy: feeds)
        cache = PictureCache(maximumBytes: limits.cachedBytes, joinAge: limits.joinAge)
    }

    /// Takes note that an access unit of the agent's is lost. Those that follow refer to it, up to the next keyframe.
    package mutating func unitLost(from role: AgentRole) {
        guard role == feeds.current else { return }
        awaitsKeyframe = true
        lastKeyframe = nil
    }

    /// Takes an access unit in.
    ///
    /// - Returns: The picture for all viewers, and what to tell the agents; `nil` if the viewers do not get it.
    package mutating func accept(
        _ accessUnit: AccessUnit,
        from role: AgentRole,
        now: NIODeadline
    ) -> (picture: Picture, orders: [FeedSwitch.Order])? {
        let isKey = accessUnit.isKey
        let (request, captured) = (accessUnit.keyframeRequest, accessUnit.captured)
        // The switch is asked last: an agent that only sends what cannot be used still owes pictures.
        guard isKey || !awaitsKeyframe || role != feeds.current,
            let orders = feeds.take(role, isKey: isKey, request: request, captured: captured, now: now)
        else {
            discarded += 1
            return nil
        }
        awaitsKeyframe = false
        lastKeyframe = isKey ? Keyframe(accessUnit: accessUnit, role: role) : nil
        var accessUnit = accessUnit
        accessUnit.pts = nextPTS(accessUnit.pts, now: now)
        keepKeyframesApart(&accessUnit)
        let picture = Picture(accessUnit, codec: codec, packetized: packetized, relayed: now.uptimeNanoseconds)
        pictures += 1
        bytes += UInt64(picture.byteCount)
        size = accessUnit.size
        orientation = accessUnit.orientation
        if isKey { keyframes += 1 }
        cache.add(picture, now: now)
        return (picture, orders)
    }

    /// Takes note of repeats that the current agent's session has and nobody gets, so that they were not made.
    package mutating func count(_ repeats: UInt64, now: NIODeadline) {
        pictures += repeats
        feeds.repeated(now: now)
    }

    /// The keyframe that a session can rest on: the agent's last access unit, where it is that of `pts` and the agent's are the pictures.
    package func keyframe(pts: Int64, from role: AgentRole) -> AccessUnit? {
        guard let lastKeyframe, lastKeyframe.role == role, feeds.current == role else { return nil }
        return lastKeyframe.accessUnit.pts == pts ? lastKeyframe.accessUnit : nil
    }

    /// Pictures are wanted, or no longer.
    ///
    /// - Returns: What to tell the agents.
    package mutating func demand(_ isThere: Bool, now: NIODeadline) -> [FeedSwitch.Order] {
        let orders = feeds.demand(isThere, now: now)
        if !flows { cache.drop() }
        return orders
    }

    /// Another size is asked for: the last picture's says nothing of the next one's.
    package mutating func sizeChanges() { size = nil }

    /// The PTS for viewers, to whom it increases by ``leastStep`` at least whatever an agent sends, and is never far ahead of the clock.
    private mutating func nextPTS(_ pts: Int64, now: NIODeadline) -> Int64 {
        let least = lastPTS.map { $0 + Self.leastStep } ?? 0
        let time = now.uptimeNanoseconds - min(now.uptimeNanoseconds, epoch)
        let latest = Int64(clamping: time / 1000) + Self.longestLead
        let next = min(max(min(pts, latest), least), Self.largestPTS)
        lastPTS = next
        return next
    }

    /// Gives a keyframe right after a keyframe another `idr_pic_id` if both have the same: the first may be another encoder's.
    private mutating func keepKeyframesApart(_ accessUnit: inout AccessUnit) {
        guard codec == .h264, accessUnit.isKey else { return keyframeBefore = nil }
        if let keyframeBefore, let id = H264KeyframeID(of: accessUnit.bytes),
            id.value == H264KeyframeID(of: keyframeBefore)?.value
        {
            accessUnit.bytes = id.changed(in: accessUnit.bytes)
        }
        keyframeBefore = accessUnit.bytes
    }

    /// What a viewer that joins now is given first; empty when it waits for the next keyframe.
    package func join(now: NIODeadline) -> [Picture] { cache.join(now: now) }

    /// An agent is gone. What the next one sends begins with a keyframe.
    ///
    /// - Parameter cause: `nil` if the agent was told to stop.
    /// - Returns: What to tell the agents.
    package mutating func lost(
        _ role: AgentRole,
        because cause: FeedSwitch.Cause?,
        now: NIODeadline
    ) -> [FeedSwitch.Order] {
        let orders = feeds.linkLost(role, because: cause, now: now)
        if !flows { cache.drop() }
        return orders
    }
}
