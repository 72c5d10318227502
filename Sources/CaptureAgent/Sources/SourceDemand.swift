import Synchronization

/// What the sessions have use for. A source follows it where it can.
package final class SourceDemand: Sendable {
    package struct Value: Sendable, Equatable {
        /// Slots per second of the fastest session that wants pictures; nil while none does.
        package let fastestSession: Int?
        /// Whether frames in DMA-BUFs can be used, by every session.
        package let takesDMABuf: Bool

        package init(fastestSession fps: Int, takesDMABuf: Bool) {
            fastestSession = fps
            self.takesDMABuf = takesDMABuf
        }

        private init() {
            fastestSession = nil
            takesDMABuf = false
        }

        /// No session wants pictures.
        package static let none = Value()

        /// Whether any session wants pictures. A source that has to work for each of them rests meanwhile.
        package var isWanted: Bool { fastestSession != nil }

        /// What a producer that sends by itself is asked for, frames per second.
        ///
        /// They are a third above the fastest session's: a compositor that counts the time since its last frame would otherwise
        /// come a hair too early for every second refresh of its screen, again and again, and deliver less than was asked for.
        package var maximumRate: Int { ((fastestSession ?? Self.idleRate) * 4 + 2) / 3 }

        /// Stands for the fastest session while there is none: the rate that most have, so that the first changes nothing.
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
