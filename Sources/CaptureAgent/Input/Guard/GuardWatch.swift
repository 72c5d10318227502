/// What a guard knows of its agent, and what it does about it. A value; times are in monotonic ns.
///
/// If an agent is silent for 200 ms while something is held, the guard releases it. It tries a desktop that does not
/// answer again, for 30 s. It ends an agent that is silent for 1 s in all, if the desktop releases the rest only then.
package struct GuardWatch: Sendable {
    package enum Action: Sendable, Equatable {
        /// Release these, then call ``tried(_:now:)``.
        case release([HeldInput.Item])
        case endAgent
        /// Nothing is left to do.
        case finish
    }

    package static let longestSilence: UInt64 = .milliseconds(200)
    package static let longestHang: UInt64 = .milliseconds(1_000)
    /// The pause between attempts to release.
    package static let pause: UInt64 = .milliseconds(200)
    /// How long attempts go on.
    package static let patience: UInt64 = .milliseconds(30_000)

    private let endsAgent: Bool
    private var held: [HeldInput.Item] = []
    /// When the next attempt to release is due; `nil` if there is nothing to release.
    private var attempt: UInt64?
    /// When the attempts end; `nil` before the first.
    private var lastAttempt: UInt64?
    /// When the agent is ended; `nil` if it is not silent.
    private var ending: UInt64?
    /// Whether the agent's end of the connection is closed.
    package private(set) var hasAgentEnded = false

    /// - Parameter endsAgent: Whether the desktop releases some of what the agent holds only when it ends.
    package init(endsAgent: Bool) {
        self.endsAgent = endsAgent
    }

    /// When ``next(now:)`` has something to do; `nil` if only the agent can change that.
    package var wake: UInt64? {
        if hasAgentEnded, attempt == nil { return 0 }
        return [attempt, ending].compactMap { $0 }.min()
    }

    /// Records what the agent says it holds.
    package mutating func heard(_ items: [HeldInput.Item], now: UInt64) {
        held = items
        attempt = items.isEmpty ? nil : now + Self.longestSilence
        (lastAttempt, ending) = (nil, nil)
    }

    /// Records that the agent's end of the connection is closed.
    package mutating func agentEnded() {
        hasAgentEnded = true
        ending = nil
        if attempt != nil { attempt = 0 }
    }

    /// Records an attempt to release.
    ///
    /// - Parameter isDone: `false` if the desktop did not answer.
    package mutating func tried(_ isDone: Bool, now: UInt64) {
        attempt = isDone || now >= lastAttempt ?? now ? nil : now + Self.pause
    }

    /// Returns what is due.
    package mutating func next(now: UInt64) -> Action? {
        if let attempt, attempt <= now {
            if lastAttempt == nil {
                lastAttempt = now + Self.patience
                // From the time at which the guard runs. If the whole machine stood still, the agent comes back, too.
                if endsAgent, !hasAgentEnded { ending = now + Self.longestHang - Self.longestSilence }
            }
            return .release(held)
        }
        if hasAgentEnded, attempt == nil { return .finish }
        if let ending, ending <= now {
            self.ending = nil
            return .endAgent
        }
        return nil
    }
}
