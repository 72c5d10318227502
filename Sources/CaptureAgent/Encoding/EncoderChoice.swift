/// Which encoder a session uses, and what follows when it fails. A value; times are monotonic ns.
///
/// A session that names its encoder has that one or an error. `auto` goes through its choices, best first; the last one is
/// never given up for another. An encoder that fails is opened again at once. Failing again before it has worked for
/// ``settlingTime``, it makes way for the next choice, or is opened again after growing pauses, at most
/// ``failureLimit`` times; what may pass by itself has no such limit.
package struct EncoderChoice {
    package enum Step: Equatable {
        /// Use the encoder of that name.
        case use(String)
        /// Nothing before then.
        case pause(until: UInt64)
        /// Nothing until the settings change.
        case stop(EncoderError)
    }

    /// An encoder that has worked this long since it was opened has put its failures behind it, ns.
    package static let settlingTime: UInt64 = .milliseconds(10_000)
    package static let failureLimit = 6
    package static let firstPause: UInt64 = .milliseconds(250)
    package static let longestPause: UInt64 = .milliseconds(2_000)

    /// Names by preference. `auto` may learn of more while the session runs.
    private var choices: [String] = []
    private var current: String?
    /// Choices that failed, and how.
    private var dismissed: [String: EncoderError] = [:]
    /// Failures of the current encoder since it last settled.
    private var failures = 0
    private var opened: UInt64?
    private var nextTry: UInt64 = 0
    private var verdict: EncoderError?
    /// What the pause waits for to pass by itself; nil for an encoder that is merely tried again.
    package private(set) var trouble: EncoderError?

    package init() {}

    /// What to do at `now`.
    ///
    /// - Parameter choices: Names by preference, at least one.
    package mutating func next(among choices: [String], at now: UInt64) -> Step {
        self.choices = choices
        if let verdict { return .stop(verdict) }
        if now < nextTry { return .pause(until: nextTry) }
        let name = current ?? best
        current = name
        return .use(name)
    }

    /// Whether something better than the current encoder has come up.
    package func prefersAnother(among choices: [String]) -> Bool {
        guard let current, let place = choices.firstIndex(of: current) else { return false }
        return choices[..<place].contains { dismissed[$0] == nil }
    }

    /// Other settings are asked for: what failed before may work now.
    package mutating func settingsChanged() {
        dismissed = [:]
        failures = 0
        nextTry = 0
        verdict = nil
    }

    /// The current encoder was closed on purpose: the best choice is next.
    package mutating func closed() {
        current = nil
        opened = nil
        failures = 0
    }

    /// The current encoder is open.
    package mutating func opened(at now: UInt64) {
        opened = now
    }

    /// The current encoder could not be opened.
    package mutating func refused(_ error: EncoderError, at now: UInt64) {
        if failures > 0 || error.isPassing {
            failedAgain(error, at: now)
        } else if isLastChoice {
            verdict = error
        } else {
            dismiss(error)
        }
    }

    /// The current encoder failed while it was open.
    package mutating func failed(_ error: EncoderError, at now: UInt64) {
        if let opened, now >= opened + Self.settlingTime { failures = 0 }
        failedAgain(error, at: now)
    }

    /// How the choices before the current one failed.
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
