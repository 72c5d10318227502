import Foundation
import Synchronization
import TestSupport

/// Asks the relay repeatedly for its status and records each change.
final class Witness: Sendable {
    struct Sight: Sendable {
        /// When the answer came, monotonic ns.
        var time: Int64
        /// `nil` if there was no answer.
        var status: Status?
    }

    private let sights = Mutex<[Sight]>([])
    private let hasEnded = Mutex(false)
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ rig: Rig) {
        let task = Task { [self] in
            let begin = monotonicNow()
            // The task is not cancelled, because a cancelled request may never return.
            while !hasEnded.withLock({ $0 }) {
                let status = try? await rig.status()
                let now = monotonicNow()
                sights.withLock { sights in
                    if sights.isEmpty || sights.last?.status != status {
                        sights.append(Sight(time: now, status: status))
                    }
                }
                // Changes come soon after a fault, so the status is read often at first.
                try? await Task.sleep(for: .milliseconds(now - begin < 3_000_000_000 ? 8 : 50))
            }
        }
        self.task.withLock { $0 = task }
    }

    /// Stops, and returns all changes, the state at the beginning first.
    func end() async -> [Sight] {
        let task = task.withLock { $0 }
        hasEnded.withLock { $0 = true }
        await task?.value
        return sights.withLock { $0 }
    }
}
