import Logging

/// Writes a relay's state, off the media loop and one at a time.
actor StateKeeper {
    private let file: StateFile
    private let logger: Logger
    /// The last state that was written, by the number that it was taken under.
    private var written = 0
    private var hasFailed = false

    init(file: StateFile, logger: Logger) {
        self.file = file
        self.logger = logger
    }

    /// - Parameter number: Grows with the states; one that is overtaken by a later one is left out.
    func keep(_ state: RelayState, number: Int) {
        guard number > written else { return }
        written = number
        do throws(StateFile.Failure) {
            try file.write(state)
            hasFailed = false
        } catch {
            // A full disk is said once, not at every change.
            if !hasFailed { logger.warning("\(error)") }
            hasFailed = true
        }
    }
}
