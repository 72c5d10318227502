package import NIOCore

/// The time limits of a connection to the HTTP API: for a request's head, for its body, and for reading the answer. It
/// sees one request at a time.
package struct RequestClock: Sendable {
    /// What to do at a deadline.
    package enum Action: Sendable, Equatable {
        case nothing
        /// Answer that the first request has not arrived, and end the connection.
        case refuse
        /// Tell the reader of the request's body that no more of it arrives.
        case endBody
        case close
    }

    private let limits: ConnectionLimits
    /// When the current time limit began.
    private var since: NIODeadline
    private var isFirst = true
    /// Whether the body of the last request is incomplete.
    package private(set) var bodyIsOpen = false
    private var bodyWasEnded = false
    /// Whether the answer to the last request is incomplete.
    private var owesAnswer = false
    /// Whether the current answer has no length. It is a stream, whose viewer has limits of its own.
    private var isStream = false
    private var intake = AnswerIntake()

    package init(limits: ConnectionLimits, now: NIODeadline) {
        self.limits = limits
        since = now
    }

    /// Whether a request's head is expected next.
    package var awaitsHead: Bool { !bodyIsOpen && !owesAnswer }

    /// When ``passed(_:given:unsent:)`` is due; `nil` if no limit applies.
    package var deadline: NIODeadline? {
        if bodyIsOpen || isFirst { return since + limits.requestTimeout }
        return isStream ? nil : since + limits.idleTimeout
    }

    package mutating func headCame(now: NIODeadline) {
        (isFirst, bodyIsOpen, bodyWasEnded, owesAnswer) = (false, true, false, true)
        since = now
    }

    package mutating func bodyEnded(now: NIODeadline) {
        bodyIsOpen = false
        owe(now: now)
    }

    package mutating func answerBegan(hasLength: Bool, now: NIODeadline) {
        isStream = !hasLength
        if !bodyIsOpen { owe(now: now) }
    }

    package mutating func answerEnded(now: NIODeadline) {
        (isStream, owesAnswer) = (false, false)
        if !bodyIsOpen { owe(now: now) }
    }

    /// Starts the next time limit.
    private mutating func owe(now: NIODeadline) {
        since = now
        intake.restart()
    }

    /// Returns what to do at the deadline.
    ///
    /// - Parameters:
    ///   - given: All bytes of answers that the connection was given.
    ///   - unsent: Those that it has not taken.
    package mutating func passed(_ now: NIODeadline, given: Int64, unsent: Int) -> Action {
        guard let deadline, deadline <= now else { return .nothing }
        since = now
        if isFirst { return .refuse }
        if bodyIsOpen {
            defer { bodyWasEnded = true }
            return bodyWasEnded ? .close : .endBody
        }
        if intake.stops(given: given, unsent: unsent) { return .close }
        // No limit applies while the relay is still making the answer.
        return owesAnswer || unsent > 0 ? .nothing : .close
    }
}
