package import Media
package import NIOCore

/// The pictures of one session on their way from the agent to the viewers: what is kept for joiners, and when a keyframe is asked for.
package struct SessionFeed: Sendable {
    package struct Limits: Sendable {
        /// Most bytes kept since the last keyframe; beyond them nothing is kept until the next one.
        package var cachedBytes = 8 << 20
        /// How old the last keyframe may be for a joiner to begin there.
        package var joinAge = TimeAmount.milliseconds(500)
        /// Least time between keyframe requests to the agent.
        package var requestInterval = TimeAmount.milliseconds(500)
        /// How often an unanswered request is sent before it is given up.
        package var requestAttempts = 10

        package init() {}
    }

    private struct KeyframeRequest {
        let id: UInt32
        var attempts = 0
    }

    private let codec: Codec
    private let packetized: Bool
    private let limits: Limits

    /// The last keyframe and all pictures since, empty when they are not all there.
    private var cache: [Picture] = []
    private var cachedBytes = 0
    private var keyframeArrived: NIODeadline?

    /// The largest PTS that fits scrcpy's packets, and more than any clock reaches.
    private static let largestPTS = Int64(1) << 62 - 1
    /// Viewers' last PTS. It outlives agents: they feed one timeline.
    private var lastPTS: Int64?

    private var pending: KeyframeRequest?
    private var lastRequestID: UInt32 = 0
    private var lastSent: NIODeadline?

    /// Pictures and bytes taken from the agent, and pictures that could not be used because no keyframe came before them.
    package private(set) var pictures: UInt64 = 0
    package private(set) var bytes: UInt64 = 0
    package private(set) var keyframes: UInt64 = 0
    package private(set) var discarded: UInt64 = 0
    /// The last picture's size, once known.
    package private(set) var size: PictureSize?
    /// Clockwise quarter turns that a player of the last picture applies, 0 to 3, once known.
    package private(set) var orientation: UInt8?

    /// Whether pictures flow: a keyframe has come from the agent that is linked now.
    package var flows: Bool { keyframeArrived != nil }

    package init(codec: Codec, packetized: Bool, limits: Limits = Limits()) {
        self.codec = codec
        self.packetized = packetized
        self.limits = limits
    }

    /// Takes an access unit in.
    ///
    /// - Returns: The picture for all viewers; nil when it refers to one that never came.
    package mutating func accept(_ accessUnit: AccessUnit, now: NIODeadline) -> Picture? {
        let isKey = accessUnit.flags.contains(.key)
        guard isKey || flows else {
            discarded += 1
            return nil
        }
        var accessUnit = accessUnit
        accessUnit.pts = nextPTS(accessUnit.pts)
        let picture = Picture(accessUnit, codec: codec, packetized: packetized)
        pictures += 1
        bytes += UInt64(picture.byteCount)
        size = accessUnit.size
        orientation = accessUnit.orientation
        if isKey {
            keyframes += 1
            keyframeArrived = now
            if let pending, accessUnit.keyframeRequest >= pending.id { self.pending = nil }
            dropCache()
        } else if cache.isEmpty {
            return picture
        }
        keep(picture)
        return picture
    }

    /// Another size is asked for: the last picture's says nothing of the next one's.
    package mutating func sizeChanges() { size = nil }

    /// The PTS for viewers, to whom it increases strictly whatever an agent sends.
    private mutating func nextPTS(_ pts: Int64) -> Int64 {
        let least = lastPTS.map { $0 + 1 } ?? 0
        let next = min(max(pts, least), Self.largestPTS)
        lastPTS = next
        return next
    }

    /// What a viewer that joins now is given first; empty when it waits for the next keyframe.
    package func join(now: NIODeadline) -> [Picture] {
        guard let keyframeArrived, now - keyframeArrived <= limits.joinAge else { return [] }
        return cache
    }

    /// The agent is gone. What the next one sends begins with a keyframe.
    package mutating func lost() {
        dropCache()
        keyframeArrived = nil
        pending = nil
        lastSent = nil
    }

    // MARK: Keyframe requests

    /// Asks for a keyframe: one that is asked for already serves everyone.
    ///
    /// - Returns: The id that the keyframe will carry. ``requestDue(now:)`` says when to send it.
    package mutating func requestKeyframe() -> UInt32 {
        if let pending { return pending.id }
        lastRequestID += 1
        pending = KeyframeRequest(id: lastRequestID)
        return lastRequestID
    }

    /// The id of the request to send to the agent now, nil for none.
    package mutating func requestDue(now: NIODeadline) -> UInt32? {
        guard var request = pending else { return nil }
        if let lastSent, now - lastSent < limits.requestInterval { return nil }
        guard request.attempts < limits.requestAttempts else {
            pending = nil
            return nil
        }
        request.attempts += 1
        pending = request
        lastSent = now
        return request.id
    }

    // MARK: The cache

    private mutating func keep(_ picture: Picture) {
        guard cachedBytes + picture.byteCount <= limits.cachedBytes else { return dropCache() }
        cache.append(picture)
        cachedBytes += picture.byteCount
    }

    private mutating func dropCache() {
        cache.removeAll(keepingCapacity: true)
        cachedBytes = 0
    }
}
