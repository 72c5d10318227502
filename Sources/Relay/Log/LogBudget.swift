import Logging
package import NIOCore

/// How many lines are logged for one noisy party: a burst, then a steady rate. Without it an agent that talks without end would keep the
/// log, and with it all other devices, busy.
package struct LogBudget: Sendable {
    private var lines = TokenBucket(capacity: 200, perSecond: 20)
    private var left = 0

    package init() {}

    /// Whether a line may be logged now.
    ///
    /// - Returns: How many lines were left out since the last one that was logged; nil when this one is to be left out too.
    package mutating func take(now: NIODeadline) -> Int? {
        guard lines.take(now: now) else {
            left += 1
            return nil
        }
        defer { left = 0 }
        return left
    }

    /// Logs what `message` makes, if there is room for it, behind how many lines there was none for.
    mutating func log(_ level: Logger.Level, to logger: Logger, _ message: @autoclosure () -> Logger.Message) {
        guard let left = take(now: .now()) else { return }
        if left > 0 { logger.warning("\(left) lines were left out here") }
        logger.log(level: level, message())
    }
}
