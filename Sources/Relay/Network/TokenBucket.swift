package import NIOCore

/// A rate limit that allows a burst, and then a steady rate.
package struct TokenBucket: Sendable {
    private let capacity: Double
    private let perSecond: Double
    private var tokens: Double
    private var last: NIODeadline?

    package init(capacity: Int, perSecond: Int) {
        self.capacity = Double(capacity)
        self.perSecond = Double(perSecond)
        tokens = Double(capacity)
    }

    /// Takes a token. Returns whether there was one.
    package mutating func take(now: NIODeadline) -> Bool {
        if let last { tokens = min(capacity, tokens + (now - last).seconds * perSecond) }
        last = now
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}
