import TestSupport

/// The time within which everything that tests wait for must happen, even on a busy machine.
package let patience = Duration.seconds(20)

/// Runs `body`, and throws if it takes longer than `limit`.
package func within<Value: Sendable>(
    _ what: String,
    limit: Duration = patience,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: limit)
            throw NeverCame(description: "\(what): nothing within \(limit)")
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() else { preconditionFailure("the group has two tasks") }
        return value
    }
}
