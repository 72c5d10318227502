import Synchronization

/// What the sessions have use for. A source follows it where it can.
package final class SourceDemand: Sendable {
    package struct Value: Sendable, Equatable {
        /// Frames per second that are worth delivering.
        ///
        /// They are a third above the fastest session's: a compositor that counts the time since its last frame would otherwise
        /// come a hair too early for every second refresh of its screen, again and again, and deliver less than was asked for.
        package let maximumRate: Int
        /// Whether frames in DMA-BUFs can be used, by every session.
        package let takesDMABuf: Bool

        /// - Parameter fps: The fastest session's slots per second.
        package init(fastestSession fps: Int, takesDMABuf: Bool) {
            maximumRate = (fps * 4 + 2) / 3
            self.takesDMABuf = takesDMABuf
        }
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

    /// Sets what `current` returns. Calls in several threads take turns, so that the last one's value is the newest.
    ///
    /// `current` may not use this object.
    package func follow(_ current: () -> Value) {
        state.withLock { state in
            let value = current()
            guard state.value != value else { return }
            state.value = value
            state.changed?(value)
        }
    }

    /// Calls `changed` at every change from now on, in the thread that makes it; nil ends that, when a call under way is done.
    ///
    /// `changed` may not use this object.
    package func observe(_ changed: (@Sendable (Value) -> Void)?) {
        state.withLock { $0.changed = changed }
    }
}
