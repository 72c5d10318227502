import Library
import Synchronization

/// How a recording is getting on. Its writer changes it, the media loop reads it.
package final class RecordingFigures: Sendable {
    package struct State: Sendable {
        /// The current file: its id in the library, when it began (UTC, µs since 1970), its duration in µs and its
        /// size.
        package var item: Int64?
        package var start: Int64?
        package var (duration, bytes): (Int64, UInt64) = (0, 0)
        /// The PTS in µs since which all pictures are in files of the same format; `nil` if none is being written.
        package var since: Int64?
        /// The numbers of the recording's files and gaps, and the length of all gaps in µs.
        package var (files, gaps, gapTime): (UInt64, UInt64, Int64) = (0, 0, 0)
        /// Why nothing is being written; `nil` if something is, or if the first keyframe has not come.
        package var failure: RecordingFailure?
        /// Whether the writer waits for a keyframe.
        package var needsKeyframe = true
    }

    /// What the media loop tells others about.
    package enum Change: Sendable {
        case began, ended, gap
        case failed(RecordingFailure)
    }

    private let state = Mutex(State())
    private let changed: @Sendable (Change) -> Void

    /// - Parameter changed: Called on the writer's thread.
    package init(changed: @escaping @Sendable (Change) -> Void) { self.changed = changed }

    package var current: State { state.withLock { $0 } }

    var needsKeyframe: Bool {
        get { state.withLock { $0.needsKeyframe } }
        set { state.withLock { $0.needsKeyframe = newValue } }
    }

    /// - Parameter pts: That of the first picture, in µs.
    func began(_ id: Int64, at start: Int64, pts: Int64) {
        state.withLock { state in
            state.since = state.since ?? pts
            (state.item, state.start, state.duration, state.bytes) = (id, start, 0, 0)
            (state.failure, state.needsKeyframe) = (nil, false)
            state.files += 1
        }
        changed(.began)
    }

    func grew(duration: Int64, bytes: UInt64) {
        state.withLock { ($0.duration, $0.bytes) = (duration, bytes) }
    }

    /// - Parameter duration: In µs.
    func gapEnded(lasting duration: Int64) {
        state.withLock { state in
            state.gaps += 1
            state.gapTime += duration
        }
        changed(.gap)
    }

    func failed(_ error: RecordingFailure) {
        let isNew = state.withLock { state in
            state.since = nil
            defer { state.failure = error }
            return state.failure != error
        }
        if isNew { changed(.failed(error)) }
    }

    /// - Parameter goesOn: Whether another file of the same format begins where this one has ended.
    func ended(goesOn: Bool) {
        state.withLock { state in
            (state.item, state.start) = (nil, nil)
            if !goesOn { state.since = nil }
        }
        changed(.ended)
    }
}
