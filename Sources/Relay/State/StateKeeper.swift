package import Logging

/// Writes a relay's state, off the media loop and one at a time.
package actor StateKeeper {
    private let file: StateFile
    private let logger: Logger
    /// How long after a failure the state is written again.
    private let retryInterval: Duration
    /// The number of the newest state.
    private var newest = 0
    private var hasFailed = false

    package init(file: StateFile, retryInterval: Duration = .seconds(5), logger: Logger) {
        self.file = file
        self.retryInterval = retryInterval
        self.logger = logger
    }

    /// Writes a state now or, if that fails, as soon as possible.
    ///
    /// - Parameter number: Grows with each state. A state is skipped if a newer one exists.
    package func keep(_ state: RelayState, number: Int) {
        guard number > newest else { return }
        newest = number
        write(state, number: number)
    }

    private func write(_ state: RelayState, number: Int) {
        guard number == newest else { return }
        do throws(StateFile.Failure) {
            try file.write(state)
            hasFailed = false
        } catch {
            // A full disk is logged once, not at every change.
            if !hasFailed { logger.warning("\(error)") }
            hasFailed = true
            Task { [weak self, retryInterval] in
                try? await Task.sleep(for: retryInterval)
                await self?.write(state, number: number)
            }
        }
    }
}
