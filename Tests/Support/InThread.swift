import Foundation

/// Runs `body`, which blocks its thread, in one of its own. Those that tests run on are few, and relays in this process need them: what waits there for an answer of such a relay
/// may keep it from answering.
package func inThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}
