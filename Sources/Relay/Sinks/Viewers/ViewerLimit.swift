package import NIOCore

/// Why the relay closed a viewer's connection.
package enum ViewerClosure: String, Sendable, CaseIterable {
    /// Its connection took nothing for the time that a viewer may be behind, though pictures waited.
    case stalled
    /// It had pictures dropped, and did not catch up within that time.
    case slow
    /// All viewers together held too much, and it held most.
    case memory
}

/// How far one viewer's connection has come.
package struct ViewerProgress: Sendable, Equatable {
    /// Units that it has taken.
    package let taken: UInt64
    /// Whether its connection has taken all that there was for it.
    package let isIdle: Bool
    /// Times that it had to be continued at a later keyframe.
    package let resyncs: UInt64

    package init(taken: UInt64, isIdle: Bool, resyncs: UInt64) {
        self.taken = taken
        self.isIdle = isIdle
        self.resyncs = resyncs
    }
}

extension ViewerProgress {
    /// - Parameter hasRoom: Whether the connection takes more. After a drop an empty queue alone says nothing.
    package init(_ queue: ViewerQueue, hasRoom: Bool) {
        let isIdle = queue.isEmpty && (hasRoom || !queue.isBehind)
        self.init(taken: queue.taken, isIdle: isIdle, resyncs: queue.counters.resyncs)
    }
}

/// How long one viewer may be behind.
///
/// It is behind from the first picture that waits while its connection takes none, and from the first drop until its queue is empty at least
/// ``recovery`` after the last one: right behind a drop there is nothing to wait for, so an empty queue says nothing then.
package struct ViewerLimit: Sendable {
    /// How long no drop has to be ago for an empty queue to mean that the viewer keeps up.
    package static let recovery = TimeAmount.seconds(5)

    /// nil for no limit.
    private let limit: TimeAmount?
    /// When its connection last took a picture, or had none to take.
    private var lastProgress: NIODeadline
    private var taken: UInt64 = 0
    /// Since when it has not kept up, nil while it does.
    private var behindSince: NIODeadline?
    private var resyncs: UInt64 = 0
    private var lastResync: NIODeadline?

    package init(limit: TimeAmount?, now: NIODeadline) {
        self.limit = limit
        lastProgress = now
    }

    /// Looks at the viewer. Called several times in a ``recovery``.
    ///
    /// - Returns: Why the viewer is to be closed now, nil when it may stay.
    package mutating func check(_ progress: ViewerProgress, now: NIODeadline) -> ViewerClosure? {
        if progress.taken != taken || progress.isIdle {
            taken = progress.taken
            lastProgress = now
        }
        if progress.resyncs != resyncs {
            resyncs = progress.resyncs
            lastResync = now
            behindSince = behindSince ?? now
        } else if let last = lastResync, progress.isIdle, now - last >= Self.recovery {
            behindSince = nil
        }
        guard let limit else { return nil }
        if now - lastProgress >= limit { return .stalled }
        if let behindSince, now - behindSince >= limit { return .slow }
        return nil
    }
}

/// What all viewers of a relay may hold together.
///
/// What waits in queues is shared: each is a run of a session's pictures up to the newest, so the longest of them is all that they hold. What has been
/// handed to a connection that does not take it is each viewer's own, since connections stop at different pictures. This bounds the latter.
package struct ViewerMemory: Sendable {
    /// Bytes.
    package var limit: Int

    package init(limit: Int) { self.limit = limit }

    /// Which viewers have to go so that the others' bytes are within the limit: those that hold most, as few as possible.
    ///
    /// - Parameter held: Each viewer's bytes.
    /// - Returns: Indices of `held`.
    package func surplus(_ held: [Int]) -> [Int] {
        var total = held.reduce(0, +)
        guard total > limit else { return [] }
        var surplus: [Int] = []
        for (index, bytes) in held.enumerated().sorted(by: { $0.element > $1.element }) where total > limit {
            surplus.append(index)
            total -= bytes
        }
        return surplus
    }
}
