import HeliographAPI

/// When a program that watches a session connects again, and when it does not.
///
/// A pure policy: the caller measures the time.
package struct Reconnection: Sendable {
    /// The first pause. Each later one is twice as long, up to the longest.
    private static let firstPause = Duration.milliseconds(500)
    private static let longestPause = Duration.seconds(8)

    /// Why there is no connection.
    package enum Loss: Sendable {
        /// The relay has closed it, with this code; 1005 if it named none.
        case closed(code: UInt16, reason: String)
        /// It was lost, or nothing came for too long.
        case lost
        /// A try to connect failed.
        case failed(RelayError)
    }

    package enum Step: Sendable {
        case retry(after: Duration, because: RelayError)
        case end(RelayError)
    }

    /// Whether the session may come back after its end, because it is the one of a name.
    let mayReturn: Bool
    private var pause = Self.firstPause

    package init(mayReturn: Bool) { self.mayReturn = mayReturn }

    /// The program has got something over the connection.
    package mutating func succeeded() { pause = Self.firstPause }

    /// Returns what to do after a loss.
    package mutating func next(after loss: Loss, url: String) -> Step {
        let error = Self.error(of: loss, url)
        guard isTemporary(loss) else { return .end(error) }
        defer { pause = min(pause * 2, Self.longestPause) }
        return .retry(after: pause, because: error)
    }

    private func isTemporary(_ loss: Loss) -> Bool {
        switch loss {
        case .lost: true
        // The session or the relay has ended; the next try shows which. Or the relay had no room, or the viewer was too
        // slow.
        case .closed(let code, _): [1000, 1001, 1005, 1013, 4001].contains(code)
        case .failed(let error): isTemporary(error)
        }
    }

    private func isTemporary(_ error: RelayError) -> Bool {
        switch error.kind {
        case .unreachable, .brokenOff, .timedOut: true
        case .refused:
            switch error.problem {
            case .unknownSession?: mayReturn
            case .tooManyViewers?, .tooManyConnections?, .shuttingDown?, .draining?, .notReady?, .noPicture?,
                .broadcastStopped?, .agentExited?, .agentNotStarted?, .agentTimeout?, .noSource?,
                .sourceUnavailable?, .tooManySessions?, .tooManyFailures?, .requestTimeout?:
                true
            default: false
            }
        default: false
        }
    }

    private static func error(of loss: Loss, _ url: String) -> RelayError {
        switch loss {
        case .lost: RelayError(.brokenOff, "the connection to the relay at \(url) was lost")
        case .closed(1001, _): RelayError(.brokenOff, "the session, or the relay at \(url), has ended")
        case .closed(1013, _): RelayError(.brokenOff, "the relay at \(url) has no room for another viewer")
        case .closed(4001, _): RelayError(.brokenOff, "this program was too slow for the session")
        case .closed(let code, let reason):
            RelayError(
                .notUnderstood,
                "the relay at \(url) closed the connection (\(code)\(reason.isEmpty ? "" : ": \(reason)"))"
            )
        case .failed(let error):
            error.problem == .unknownSession ? RelayError(.ended, "the session has ended", code: error.code) : error
        }
    }
}
