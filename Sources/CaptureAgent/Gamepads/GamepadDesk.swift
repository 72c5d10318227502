package import Wire

/// The keeper of the relay's orders for the agent's gamepad, over one link. Its thread carries them out.
///
/// Only the newest state matters, so orders never pile up. Closing the desk ends the gamepad.
package final class GamepadDesk: Sendable {
    private struct State: Sendable {
        var wish = GamepadHand.Wish()
        var isClosing = false
    }

    package typealias Make = @Sendable (GamepadType) throws(InputFailure) -> any GamepadDevice

    private let state = Monitor(State())
    private let changed: Event
    private let make: Make
    private let send: @Sendable (GamepadReport) -> Void

    /// - Parameters:
    ///   - changed: Wakes the thread. A former desk may have used it.
    ///   - send: Receives reports for the relay.
    package init(
        changed: Event,
        make: @escaping Make = { (type: GamepadType) throws(InputFailure) in try type.device() },
        send: @escaping @Sendable (GamepadReport) -> Void
    ) {
        self.changed = changed
        self.make = make
        self.send = send
    }

    /// Accepts an order.
    package func take(_ order: GamepadOrder) {
        state.withLock { $0.wish.follow(order, now: MonotonicClock.now) }
        changed.set()
    }

    /// Ends ``run()``.
    package func close() {
        state.withLock { $0.isClosing = true }
        changed.set()
    }

    /// Carries out orders until the desk is closed, then ends the gamepad.
    package func run() {
        let hand = GamepadHand(make: make, send: send)
        while true {
            changed.clear()
            let (wish, isClosing) = state.withLock { ($0.wish, $0.isClosing) }
            let now = MonotonicClock.now
            if isClosing { return hand.end(now: now) }
            hand.follow(wish, now: now)
            let interests = [changed.descriptor] + (hand.descriptor.map { [$0] } ?? [])
            let timeout = hand.deadline.map { deadline in
                let now = MonotonicClock.now
                return deadline > now ? deadline - now : 0
            }
            _ = Poll.wait(for: interests.map { Poll.Interest($0) }, timeout: timeout)
        }
    }
}
