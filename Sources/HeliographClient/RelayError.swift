import Access
package import HeliographAPI

/// Why a relay did not do what a program asked for.
///
/// ``description`` is a sentence for the person in front of the program; ``kind`` and ``code`` are for the program:
///
///     do {
///         try await screen.click(412, 300)
///     } catch where error.code == "controlled" {
///         print("try again later: \(error)")
///     }
public struct RelayError: Error, Sendable, CustomStringConvertible {
    public enum Kind: Sendable {
        /// An argument is wrong, and nothing was sent.
        case badArgument
        /// Nothing answers at the relay's address.
        case unreachable
        /// The connection was lost, or an answer broke off.
        case brokenOff
        /// The relay did not answer in time.
        case timedOut
        /// The relay's certificate is not the trusted one.
        case untrusted
        /// The relay refused the call: ``RelayError/code`` says why.
        case refused
        /// The answer is not that of a relay of this release.
        case notUnderstood
        /// What a program waited for did not happen.
        case notHappened
        /// The session has ended.
        case ended
        /// The program has closed the client or the session.
        case closed
        /// The program's task was cancelled.
        case cancelled
    }

    public let kind: Kind
    public let description: String
    /// Why the relay refused, as docs/reference/api.md lists it, such as `unknown_session`; or the outcome of a wait,
    /// such as `timeout`. `nil` for other kinds.
    public let code: String?
    /// The object of the refused call.
    package let place: CallPlace?

    package init(_ kind: Kind, _ description: String, code: String? = nil, about place: CallPlace? = nil) {
        (self.kind, self.description, self.code, self.place) = (kind, description, code, place)
    }

    /// Whether the connection to the relay was lost, or could not be made, which may be temporary.
    public var isLossOfRelay: Bool { kind == .unreachable || kind == .brokenOff }

    /// Why the relay refused; `nil` if it did not.
    package var problem: ProblemCode? { kind == .refused ? code.flatMap(ProblemCode.init(rawValue:)) : nil }

    static func unreachable(_ url: String) -> RelayError {
        RelayError(.unreachable, "cannot reach the relay at \(url): is heliograph-relay running?")
    }

    static func untrusted(_ url: String) -> RelayError {
        RelayError(
            .untrusted,
            "the certificate of the relay at \(url) is not trusted, or the port has no TLS: compare its fingerprint with "
                + "the relay's log, and pin it"
        )
    }

    /// Creates the error for a certificate that is not the pinned one.
    static func otherCertificate(_ found: Fingerprint, of url: String) -> RelayError {
        RelayError(
            .untrusted,
            "the relay at \(url) shows another certificate than the trusted one: an attacker may be in between, or the "
                + "relay has a new one. Compare its fingerprint, \(found.text), with the relay's log, and pin that one instead"
        )
    }

    static func refused(_ problem: ProblemReport, about place: CallPlace?) -> RelayError {
        RelayError(.refused, problem.detail, code: problem.code, about: place)
    }
}
