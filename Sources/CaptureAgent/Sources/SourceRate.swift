import Synchronization

/// The highest frame rate that the sessions have use for. A source follows it where it can.
///
/// It is a third above the fastest session's: a compositor that counts the time since its last frame would otherwise come a hair
/// too early for every second refresh of its screen, again and again, and deliver less than was asked for.
package final class SourceRate: Sendable {
    private struct State {
        var maximum: Int
        var changed: (@Sendable (Int) -> Void)?
    }

    private let state: Mutex<State>

    /// - Parameter fps: The fastest session's slots per second.
    package init(fastestSession fps: Int) {
        state = Mutex(State(maximum: Self.maximum(for: fps)))
    }

    /// Frames per second that are worth delivering.
    package var maximum: Int { state.withLock { $0.maximum } }

    /// Sets the rate for sessions of which the fastest has `fps` slots per second.
    package func follow(fastestSession fps: Int) {
        let maximum = Self.maximum(for: fps)
        state.withLock { state in
            guard state.maximum != maximum else { return }
            state.maximum = maximum
            state.changed?(maximum)
        }
    }

    /// Calls `changed` at every change from now on, in the thread that makes it; nil ends that, when a call under way is done.
    ///
    /// `changed` may not use this object.
    package func observe(_ changed: (@Sendable (Int) -> Void)?) {
        state.withLock { $0.changed = changed }
    }

    private static func maximum(for fps: Int) -> Int { (fps * 4 + 2) / 3 }
}
