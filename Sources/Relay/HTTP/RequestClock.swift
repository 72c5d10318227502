package import NIOCore

/// How long a connection to the HTTP API may take for what it owes: a request's head, its body, and taking the answer. It sees one request at a time.
package struct RequestClock: Sendable {
    package enum Action: Sendable, Equatable {
        case nothing
        /// Say that the first request has not come, and end the connection.
        case refuse
        /// Tell whoever reads the request's body that no more of it comes.
        case endBody
        case close
    }

    private let limits: ConnectionLimits
    /// Since when what is owed now is.
    private var since: NIODeadline
    private var isFirst = true
    private var bodyIsOpen = false
    private var bodyWasEnded = false
    /// Whether the answer to the last request has not ended.
    private var owesAnswer = false
    /// Whether the answer that has begun has no length: a stream, whose viewer has limits of its own.
    private var isStream = false
    /// What the connection had not taken when last looked at, bytes.
    private var unsent = Int.max

    package init(limits: ConnectionLimits, now: NIODeadline) {
        self.limits = limits
        since = now
    }

    /// Whether the next thing to come is a request's head.
    package var awaitsHead: Bool { !bodyIsOpen && !owesAnswer }

    /// When ``passed(_:unsent:)`` is due; nil while nothing is owed.
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

    private mutating func owe(now: NIODeadline) { (since, unsent) = (now, .max) }

    /// The deadline is there.
    ///
    /// - Parameter unsent: Bytes of answers that the connection has not taken.
    package mutating func passed(_ now: NIODeadline, unsent: Int) -> Action {
        guard let deadline, deadline <= now else { return .nothing }
        since = now
        if isFirst { return .refuse }
        if bodyIsOpen {
            defer { bodyWasEnded = true }
            return bodyWasEnded ? .close : .endBody
        }
        if unsent == 0 {
            // Who waits for an answer that is being made owes nothing.
            self.unsent = .max
            return owesAnswer ? .nothing : .close
        }
        defer { self.unsent = unsent }
        return unsent < self.unsent ? .nothing : .close
    }
}
