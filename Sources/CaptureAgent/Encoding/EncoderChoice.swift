/// Decides which encoder a session uses, and what happens when it fails. Times are monotonic ns.
///
/// A session that names its encoder gets that encoder or an error. `auto` tries its choices, best first, and never
/// gives up the last one.
///
/// - An encoder that fails is opened again at once.
/// - If it fails again within ``settlingTime``, the next choice replaces it. Without another choice, it is opened again
///   after growing pauses, at most ``failureLimit`` times.
/// - Failures that may pass without intervention are retried without a limit.
package struct EncoderChoice {
    package enum Step: Equatable {
        /// Use the encoder with that name.
        case use(String)
        /// Try nothing before that time.
        case pause(until: UInt64)
        /// Try nothing until the settings change.
        case stop(EncoderError)
    }

    /// The time after which an open encoder counts as working and its earlier failures are forgotten, in ns.
    package static let settlingTime: UInt64 = .milliseconds(10_000)
    package static let failureLimit = 6
    package static let firstPause: UInt64 = .milliseconds(250)
    package static let longestPause: UInt64 = .milliseconds(2_000)

    /// Names by preference. `auto` may find more while the session runs.
    private var choices: [String] = []
    private var current: String?
    /// Choices that failed, and how.
    private var dismissed: [String: EncoderError] = [:]
    /// Failures of the current encoder since it last worked for ``settlingTime``.
    private var failures = 0
    private var opened: UInt64?
    private var nextTry: UInt64 = 0
    private var verdict: EncoderError?
    /// The passing problem that the pause waits for; `nil` if the encoder is just tried again.
    package private(set) var trouble: EncoderError?

    package init() {}

    /// Returns the next step at the time `now`.
    ///
    /// - Parameter choices: Names by preference; at least one.
    package mutating func next(among choices: [String], at now: UInt64) -> Step {
        self.choices = choices
        if let verdict { return .stop(verdict) }
        if now < nextTry { return .pause(until: nextTry) }
        let name = current ?? best
        current = name
        return .use(name)
    }

    /// Returns whether a better choice than the current encoder is available.
    package func prefersAnother(among choices: [String]) -> Bool {
        guard let current, let place = choices.firstIndex(of: current) else { return false }
        return choices[..<place].contains { dismissed[$0] == nil }
    }

    /// Forgets all failures, because other settings may work.
    package mutating func settingsChanged() {
        dismissed = [:]
        failures = 0
        nextTry = 0
        verdict = nil
    }

    /// Records that the current encoder was closed on purpose. The best choice is next.
    package mutating func closed() {
        current = nil
        opened = nil
        failures = 0
    }

    /// Records that the current encoder is open.
    package mutating func opened(at now: UInt64) {
        opened = now
    }

    /// Records that the current encoder could not be opened.
    package mutating func refused(_ error: EncoderError, at now: UInt64) {
        if failures > 0 || error.isPassing {
            failedAgain(error, at: now)
        } else if isLastChoice {
            verdict = error
        } else {
            dismiss(error)
        }
    }

    /// Records that the current encoder failed while it was open.
    package mutating func failed(_ error: EncoderError, at now: UInt64) {
        if let opened, now >= opened + Self.settlingTime { failures = 0 }
        failedAgain(error, at: now)
    }

    /// The failures of the choices before the current one.
    package var dismissals: [EncoderError] { choices.compactMap { dismissed[$0] } }

    private mutating func failedAgain(_ error: EncoderError, at now: UInt64) {
        opened = nil
        failures = min(failures + 1, Self.failureLimit + 1)
        trouble = error.isPassing ? error : nil
        if failures == 1 { return }
        if !isLastChoice { return dismiss(error) }
        if failures > Self.failureLimit, trouble == nil {
            verdict = error
        } else {
            nextTry = now + min(Self.firstPause << UInt64(failures - 2), Self.longestPause)
        }
    }

    private mutating func dismiss(_ error: EncoderError) {
        if let current { dismissed[current] = error }
        current = nil
        failures = 0
    }

    private var best: String { choices.first { dismissed[$0] == nil } ?? choices[choices.count - 1] }

    private var isLastChoice: Bool { current == choices.last }
}
