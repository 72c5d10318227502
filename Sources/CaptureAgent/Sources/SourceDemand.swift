package import Media
import Synchronization

/// What the sessions need from a source. A source follows it if it can.
package final class SourceDemand: Sendable {
    package struct Value: Sendable, Equatable {
        /// Slots per second of the fastest session that wants pictures; `nil` if none does.
        package let fastestSession: Int?
        /// Whether every session can use frames in DMA-BUFs.
        package let takesDMABuf: Bool
        /// The size that a source's own monitor should have; `nil` for the one that it was made with.
        package let monitor: PictureSize?

        package init(fastestSession fps: Int?, takesDMABuf: Bool, monitor: PictureSize? = nil) {
            fastestSession = fps
            self.takesDMABuf = takesDMABuf
            self.monitor = monitor
        }

        /// No session wants pictures.
        package static let none = Value(fastestSession: nil, takesDMABuf: false)

        /// Whether any session wants pictures. If not, a source that has to do work for each frame pauses.
        package var isWanted: Bool { fastestSession != nil }

        /// The frame rate that is requested from a producer, in frames per second.
        ///
        /// It is a third above the fastest session's rate. A compositor that measures the time since its last frame
        /// would otherwise repeatedly skip a refresh that comes slightly too early, and deliver fewer frames than
        /// requested.
        package var maximumRate: Int { ((fastestSession ?? Self.idleRate) * 4 + 2) / 3 }

        /// Stands in for the fastest session while there is none. It is the most common rate, so the first session
        /// rarely changes it.
        private static let idleRate = 30
    }

    private struct State {
        var value: Value
        var changed: (@Sendable (Value) -> Void)?
    }

    private let state: Mutex<State>

    package init(_ value: Value) {
        state = Mutex(State(value: value))
    }

    package var value: Value { state.withLock { $0.value } }

    /// Sets the value that `current` returns. Concurrent calls take turns, so the last call's value is the newest.
    ///
    /// `current` must not use this object.
    package func follow(_ current: () -> Value) {
        state.withLock { state in
            let value = current()
            guard state.value != value else { return }
            state.value = value
            state.changed?(value)
        }
    }

    /// Calls `changed` at every change from now on, in the thread that makes it. `nil` stops this and waits for a
    /// running call.
    ///
    /// `changed` must not use this object.
    package func observe(_ changed: (@Sendable (Value) -> Void)?) {
        state.withLock { $0.changed = changed }
    }
}
