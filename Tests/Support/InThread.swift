import Foundation

/// Runs `body`, which blocks its thread, in a separate thread.
///
/// Tests run on few threads, and relays in this process need them. A test that blocks one while it waits for such a
/// relay may keep the relay from answering.
package func inThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}
