package import Media
package import NIOCore
package import Wire

/// Decides which of the agents' access units become a session's stream: those of one agent at a time, on one timeline.
///
/// A pure value. Its mutators return the orders for the agents.
package struct SessionFeed: Sendable {
    /// A keyframe that a session may rest on.
    private struct Keyframe {
        /// The access unit as its agent sent it.
        let accessUnit: EncodedUnit<ByteBuffer>
        let role: AgentRole
    }

    private let codec: Codec
    /// The monotonic instant of PTS 0, ns.
    private let epoch: UInt64
    /// Decides which agent feeds the session.
    package var feedSwitch: FeedSwitch

    /// The largest PTS that fits scrcpy's packets. No clock reaches it.
    private static let largestPTS = Int64(1) << 62 - 1
    /// How far a PTS may be ahead of the clock, µs. Agent and relay read the same clock, so a greater lead is an error.
    private static let longestLead: Int64 = 60_000_000
    /// Least distance of two PTS, µs: more than a tick of the 90 kHz clock of transport streams, so that they differ
    /// there too.
    private static let leastStep: Int64 = 12
    /// The last PTS sent to viewers. It outlives agents, which all feed one timeline.
    private var lastPTS: Int64?
    /// The last PTS of each audio track.
    private var lastSound: [MediaTrack.ID: Int64] = [:]
    /// The current agent's last access unit, if it is a keyframe.
    private var lastKeyframe: Keyframe?
    /// The last picture sent to viewers, if it is a keyframe, in Annex B. It outlives agents too.
    private var keyframeBefore: ByteBuffer?

    /// Access units dropped because no keyframe preceded them or another agent was the feed.
    package private(set) var discarded: UInt64 = 0

    /// Whether an access unit of the current agent was lost and no keyframe has come since.
    package private(set) var awaitsKeyframe = false

    /// Whether pictures flow: an agent that is still linked has sent a keyframe.
    package var flows: Bool { feedSwitch.current != nil }

    /// Creates a feed that waits for its first agent.
    ///
    /// - Parameter epoch: The monotonic instant of PTS 0, ns.
    package init(codec: Codec, epoch: UInt64, policy: FeedSwitch.Policy) {
        self.epoch = epoch
        self.codec = codec
        self.feedSwitch = FeedSwitch(policy: policy)
    }

    /// Records that an access unit of an agent is lost. The following ones depend on it, up to the next keyframe.
    package mutating func unitLost(from role: AgentRole) {
        guard role == feedSwitch.current else { return }
        awaitsKeyframe = true
        lastKeyframe = nil
    }

    /// Accepts an access unit.
    ///
    /// - Returns: The unit for all sinks, and the orders for the agents; `nil` if sinks must not get the unit.
    package mutating func accept(
        _ accessUnit: EncodedUnit<ByteBuffer>,
        from role: AgentRole,
        now: NIODeadline
    ) -> (unit: MediaUnit, orders: [FeedSwitch.Order])? {
        let isKey = accessUnit.isKey
        let (request, captured) = (accessUnit.keyframeRequest, accessUnit.captured)
        // The switch comes last: an agent that sends only unusable units still owes pictures.
        guard isKey || !awaitsKeyframe || role != feedSwitch.current,
            let orders = feedSwitch.take(role, isKey: isKey, request: request, captured: captured, now: now)
        else {
            discarded += 1
            return nil
        }
        awaitsKeyframe = false
        lastKeyframe = isKey ? Keyframe(accessUnit: accessUnit, role: role) : nil
        var accessUnit = accessUnit
        accessUnit.pts = nextPTS(accessUnit.pts, now: now)
        keepKeyframesApart(&accessUnit)
        return (MediaUnit(accessUnit, codec: codec, from: role, relayed: now.uptimeNanoseconds), orders)
    }

    /// Converts a unit of the device's sound to the session's time. Its PTS counts from the monotonic clock's 0.
    ///
    /// - Returns: `nil` if the time does not increase, or is far from the clock.
    package mutating func timedSound(
        _ unit: EncodedUnit<ByteBuffer>,
        now: NIODeadline
    ) -> EncodedUnit<ByteBuffer>? {
        let track = unit.header.track
        let (pts, overflow) = unit.pts.subtractingReportingOverflow(Int64(clamping: epoch / 1000))
        guard !overflow, pts > lastSound[track] ?? -1, pts <= latestPTS(now: now) else { return nil }
        lastSound[track] = pts
        var unit = unit
        unit.pts = pts
        return unit
    }

    /// Returns the keyframe that a session can rest on: the agent's last access unit, if it has this `pts` and the
    /// agent feeds the session.
    package func keyframe(pts: Int64, from role: AgentRole) -> AccessUnit? {
        guard let lastKeyframe, lastKeyframe.role == role, feedSwitch.current == role,
            lastKeyframe.accessUnit.pts == pts
        else { return nil }
        return AccessUnit(lastKeyframe.accessUnit.header, Array(lastKeyframe.accessUnit.bytes.readableBytesView))
    }

    /// Returns the PTS for viewers. It increases by at least ``leastStep`` and is never far ahead of the clock,
    /// whatever an agent sends.
    private mutating func nextPTS(_ pts: Int64, now: NIODeadline) -> Int64 {
        let least = lastPTS.map { $0 + Self.leastStep } ?? 0
        let next = min(max(min(pts, latestPTS(now: now)), least), Self.largestPTS)
        lastPTS = next
        return next
    }

    /// Returns the greatest plausible PTS.
    private func latestPTS(now: NIODeadline) -> Int64 {
        let time = now.uptimeNanoseconds - min(now.uptimeNanoseconds, epoch)
        return Int64(clamping: time / 1000) + Self.longestLead
    }

    /// Gives a keyframe that follows a keyframe another `idr_pic_id` if both have the same one. They may come from two
    /// encoders.
    private mutating func keepKeyframesApart(_ accessUnit: inout EncodedUnit<ByteBuffer>) {
        guard codec == .h264, accessUnit.isKey else { return keyframeBefore = nil }
        if let keyframeBefore {
            let bytes = Array(accessUnit.bytes.readableBytesView)
            if let id = H264KeyframeID(of: bytes),
                id.value == H264KeyframeID(of: Array(keyframeBefore.readableBytesView))?.value
            {
                accessUnit.bytes = ByteBuffer(bytes: id.changed(in: bytes))
            }
        }
        keyframeBefore = accessUnit.bytes
    }
}
