import Media

/// The thread of a standby that offers a slate once a second while a screen is lost, so that viewers see the loss.
struct SlateLoop {
    private static let interval: UInt64 = .milliseconds(1_000)

    let screen: Screen
    /// How long the last picture is shown before the slate, in ns.
    let delay: UInt64

    func run(until stop: Event) {
        while !stop.wait(until: MonotonicClock.now + Self.interval) {
            screen.showSlate(lostFor: delay, now: MonotonicClock.now)
        }
    }
}
