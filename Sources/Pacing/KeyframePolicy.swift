/// Decides which pictures are keyframes: by time, and on request.
///
/// Requests are coalesced: the next keyframe answers all that came before it, and requested keyframes stand at least
/// 500 ms apart.
package struct KeyframePolicy: Sendable {
    /// Shortest time between a requested keyframe and the keyframe before it, ns.
    package static let requestSpacing: UInt64 = 500_000_000

    /// Longest time between keyframes, ns.
    private let interval: UInt64
    private var lastKeyframe: UInt64?
    private var pendingRequest: UInt32?

    package init(interval: UInt64) {
        self.interval = interval
    }

    /// Asks for a keyframe that carries `id`.
    package mutating func request(_ id: UInt32) {
        pendingRequest = id
    }

    /// Forgets the last keyframe, because it or a picture after it was lost: the next picture has to be a keyframe.
    package mutating func restart() {
        lastKeyframe = nil
    }

    /// Whether the picture that is encoded at `now` has to be a keyframe.
    package func wantsKeyframe(at now: UInt64) -> Bool {
        guard let lastKeyframe else { return true }
        if now >= lastKeyframe + interval { return true }
        return pendingRequest != nil && now >= lastKeyframe + Self.requestSpacing
    }

    /// Notes that a keyframe was made at `now`; returns the request that it answers, 0 for none.
    package mutating func keyframeMade(at now: UInt64) -> UInt32 {
        lastKeyframe = now
        defer { pendingRequest = nil }
        return pendingRequest ?? 0
    }
}
