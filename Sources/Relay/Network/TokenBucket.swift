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

    /// Takes tokens. Returns whether there were so many; if not, it takes none.
    package mutating func take(_ count: Int = 1, now: NIODeadline) -> Bool {
        if let last { tokens = min(capacity, tokens + (now - last).seconds * perSecond) }
        last = now
        guard tokens >= Double(count) else { return false }
        tokens -= Double(count)
        return true
    }
}
