package import NIOCore

/// Why the relay closed a viewer's connection.
package enum ViewerClosure: String, Sendable, CaseIterable {
    /// The connection took nothing for the allowed time, although pictures waited.
    case stalled
    /// Pictures were dropped, and the viewer did not catch up within the allowed time.
    case slow
    /// All viewers together held too many bytes, and this one held most.
    case memory
}

/// How far one viewer's connection has come.
package struct ViewerProgress: Sendable, Equatable {
    /// The number of units that the connection has taken.
    package let taken: UInt64
    /// Whether the connection has taken all available units.
    package let isIdle: Bool
    /// How often the viewer had to continue at a later keyframe.
    package let resyncs: UInt64

    package init(taken: UInt64, isIdle: Bool, resyncs: UInt64) {
        self.taken = taken
        self.isIdle = isIdle
        self.resyncs = resyncs
    }
}

extension ViewerProgress {
    /// Reads the progress from a queue.
    ///
    /// - Parameter hasRoom: Whether the connection takes more. After a drop an empty queue alone proves nothing.
    package init(_ queue: ViewerQueue, hasRoom: Bool) {
        let isIdle = queue.isEmpty && (hasRoom || !queue.isBehind)
        self.init(taken: queue.taken, isIdle: isIdle, resyncs: queue.counters.resyncs)
    }
}

/// The limit on how long one viewer may be behind.
///
/// A viewer is behind from the first picture that waits while its connection takes none. It is also behind from the
/// first drop until its queue is empty at least ``recovery`` after the last drop. An empty queue right after a
/// drop proves nothing.
package struct ViewerLimit: Sendable {
    /// How long ago the last drop must be before an empty queue means that the viewer keeps up.
    package static let recovery = TimeAmount.seconds(5)

    /// The time limit; `nil` for none.
    private let limit: TimeAmount?
    /// When its connection last took a picture, or had none to take.
    private var lastProgress: NIODeadline
    private var taken: UInt64 = 0
    /// Since when it has not kept up; `nil` if it does.
    private var behindSince: NIODeadline?
    private var resyncs: UInt64 = 0
    private var lastResync: NIODeadline?

    /// - Parameter progress: How far a viewer has come that was watched before; `nil` for a new one.
    package init(limit: TimeAmount?, from progress: ViewerProgress? = nil, now: NIODeadline) {
        self.limit = limit
        lastProgress = now
        (taken, resyncs) = (progress?.taken ?? 0, progress?.resyncs ?? 0)
    }

    /// Checks the viewer. Called several times per ``recovery``.
    ///
    /// - Returns: Why the viewer must be closed now; `nil` if it may stay.
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

/// The limit on the bytes that all viewers of a relay hold together.
///
/// Queues share their units. Each is a run of a session's pictures up to the newest, so the longest queue is all they
/// hold. Bytes handed to a slow connection are not shared, because connections stop at different pictures. Only those
/// count here.
package struct ViewerMemory: Sendable {
    /// The limit in bytes.
    package var limit: Int

    package init(limit: Int) { self.limit = limit }

    /// Returns which viewers to close so that the others are within the limit: those that hold most, as few as
    /// possible.
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
