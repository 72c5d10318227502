/// A condition that did not come true in time.
package struct NeverCame: Error, CustomStringConvertible {
    package var description: String

    package init(description: String) {
        self.description = description
    }
}

/// Waits until `condition` returns a value. It is called every few milliseconds, at most for `limit`.
///
/// For events in other processes or threads that nothing announces. The limit only bounds a failing test.
package func eventually<Value>(
    _ what: String,
    limit: Duration = .seconds(30),
    _ condition: () async throws -> Value?
) async throws -> Value {
    let deadline = ContinuousClock.now + limit
    while true {
        if let value = try await condition() { return value }
        guard ContinuousClock.now < deadline else { throw NeverCame(description: "\(what): not within \(limit)") }
        try await Task.sleep(for: .milliseconds(5))
    }
}
