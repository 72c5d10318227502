import Logging
package import NIOCore

/// The number of log lines for one noisy source: a burst, then a steady rate. Without it, an agent that writes
/// endlessly would keep the log busy, and with it all other devices.
package struct LogBudget: Sendable {
    private var lines = TokenBucket(capacity: 200, perSecond: 20)
    private var left = 0

    package init() {}

    /// Returns whether a line may be logged now.
    ///
    /// - Returns: The number of lines left out since the last logged one; `nil` if this one is left out too.
    package mutating func take(now: NIODeadline) -> Int? {
        guard lines.take(now: now) else {
            left += 1
            return nil
        }
        defer { left = 0 }
        return left
    }

    /// Logs `message` if there is room for it, with the number of lines left out before it.
    mutating func log(_ level: Logger.Level, to logger: Logger, _ message: @autoclosure () -> Logger.Message) {
        guard let left = take(now: .now()) else { return }
        if left > 0 { logger.warning("\(left) lines were left out here") }
        logger.log(level: level, message())
    }
}
