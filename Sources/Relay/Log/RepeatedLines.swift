package import NIOCore

/// Decides which log lines are left out because they repeat.
///
/// Within ``window``, the same line is written ``limit`` times. After that it is left out until the window has passed.
package struct RepeatedLines: Sendable {
    /// How often the same line is written in a window.
    package static let limit = 5
    /// How long a window lasts, counted from a line's first occurrence.
    package static let window = TimeAmount.seconds(10)
    /// How many different lines are remembered.
    package static let capacity = 256

    private struct Record: Sendable {
        var began: NIODeadline
        var count = 0
        var leftOut = 0
    }

    private var records: [String: Record] = [:]

    package init() {}

    /// Returns whether `line` may be written now.
    ///
    /// - Returns: How often it was left out since it was last written; `nil` if it is left out too.
    package mutating func take(_ line: String, now: NIODeadline) -> Int? {
        var record = records[line] ?? Record(began: now)
        var leftOut = 0
        if now - record.began >= Self.window {
            leftOut = record.leftOut
            record = Record(began: now)
        }
        if records[line] == nil { makeRoom(now: now) }
        record.count += 1
        guard record.count <= Self.limit else {
            record.leftOut += 1
            records[line] = record
            return nil
        }
        records[line] = record
        return leftOut
    }

    /// Removes and returns the lines whose window has passed, with how often they were left out.
    package mutating func ended(now: NIODeadline) -> [(line: String, leftOut: Int)] {
        let over = records.filter { $0.value.leftOut > 0 && now - $0.value.began >= Self.window }
        for line in over.keys { records[line] = nil }
        return over.map { ($0.key, $0.value.leftOut) }.sorted { $0.line < $1.line }
    }

    private mutating func makeRoom(now: NIODeadline) {
        guard records.count >= Self.capacity else { return }
        records = records.filter { now - $0.value.began < Self.window || $0.value.leftOut > 0 }
        // This many different lines at once are not repetitions.
        if records.count >= Self.capacity { records.removeAll() }
    }
}
