/// The guard's work: it follows what the agent says, and does what ``GuardWatch`` says.
package struct GuardLoop {
    /// The guard's end of the connection.
    private let descriptor: Int32
    private let release: ([HeldInput.Item]) -> Bool
    private let endAgent: (() -> Void)?

    /// - Parameters:
    ///   - descriptor: The guard's end of the connection.
    ///   - release: Releases items by the guard's own devices; `false` if the desktop did not answer.
    ///   - endAgent: Ends the agent; `nil` if the guard's release is enough.
    package init(
        descriptor: Int32,
        release: @escaping ([HeldInput.Item]) -> Bool,
        endAgent: (() -> Void)? = nil
    ) {
        (self.descriptor, self.release, self.endAgent) = (descriptor, release, endAgent)
    }

    /// Runs until the agent has ended and nothing is left to release.
    package func run() {
        let socket = GuardSocket(descriptor: descriptor)
        var watch = GuardWatch(endsAgent: endAgent != nil)
        while true {
            let now = MonotonicClock.now
            let timeout = watch.wake.map { $0 > now ? $0 - now : 0 }
            let interests = watch.hasAgentEnded ? [] : [Poll.Interest(descriptor)]
            // What the agent says comes before what its silence means.
            if Poll.wait(for: interests, timeout: timeout).contains(true) {
                switch socket.receive() {
                case .message(let message): watch.heard(message.items, now: MonotonicClock.now)
                case .none: break
                case .ended: watch.agentEnded()
                }
                continue
            }
            switch watch.next(now: MonotonicClock.now) {
            case .release(let items): watch.tried(release(items), now: MonotonicClock.now)
            case .endAgent: endAgent?()
            case .finish: return
            case nil: break
            }
        }
    }
}
