import Media

/// Shows a slate once a second while a screen is lost: the thread of a standby, so that viewers have something that says so.
struct SlateLoop {
    private static let interval: UInt64 = .milliseconds(1_000)

    let screen: Screen
    /// How long the last picture goes on before, ns.
    let delay: UInt64

    func run(until stop: Event) {
        while !stop.wait(until: MonotonicClock.now + Self.interval) {
            screen.showSlate(lostFor: delay, now: MonotonicClock.now)
        }
    }
}
