import Synchronization

/// Whether a session can use frames in DMA-BUFs now. Written by the session's thread, read by any thread.
final class ImportAbility: Sendable {
    private let state = Mutex(false)
    private let changed: @Sendable () -> Void

    /// - Parameter changed: Called in the session's thread after each change.
    init(changed: @escaping @Sendable () -> Void) {
        self.changed = changed
    }

    var current: Bool { state.withLock { $0 } }

    func set(_ ability: Bool) {
        let isNew = state.withLock { state in
            defer { state = ability }
            return state != ability
        }
        if isNew { changed() }
    }
}
