package import Access
import Synchronization

/// Lets one client pair with the relay: by a PIN that an operator has armed, and by which both prove that they see each
/// other's certificates.
///
/// A PIN is for two minutes and one guess. A client that gives up half-way burns nothing, and learns nothing: it must
/// prove that it knows the PIN before the relay does.
package final class Pairing: Sendable {
    /// How long a PIN is good.
    package static let time = Duration.seconds(120)
    /// How long a client may take from its first share to its proof.
    package static let attemptTime = Duration.seconds(20)
    /// How many shares are taken for a PIN, because each costs memory and time.
    package static let mostShares = 20

    /// What has become of the last PIN.
    package enum Outcome: Sendable, Equatable {
        /// It waits for a client.
        case armed
        /// A client has proved to know it, and is being kept.
        case proved
        /// A client of this name has paired.
        case paired(String)
        /// A client did not know it, or too many shares came. It is burnt.
        case wrongPIN
        case expired
        case cancelled
        /// A client knew it, but could not be kept.
        case failed
    }

    /// Why a client cannot pair.
    package enum Refusal: Error, Equatable {
        /// There is no PIN, or its time is over.
        case notArmed
        /// Another client is in the middle of it, or this one's share is still being answered.
        case busy
        /// There is too little memory.
        case noMemory
        /// What the client sent is not a share, or it has sent none.
        case noShare
        /// The client does not know the PIN, which is burnt now.
        case wrongPIN
    }

    /// What an operator has armed.
    package struct Armed: Sendable {
        package let pin: PairingPIN
        package let end: ContinuousClock.Instant
    }

    /// What a client gets once it has proved to know the PIN.
    package struct Proved: Sendable {
        /// The relay's own proof.
        package let proof: [UInt8]
        /// How the client wants to be called.
        package let name: String
        package let terms: KeyRing.Terms
        /// The operator's key.
        package let armer: KeyRing.Entry
    }

    private struct Attempt {
        let number: UInt64
        let client: Fingerprint
        let name: String
        let end: ContinuousClock.Instant
        /// `nil` while they are computed.
        var confirmations: SPAKE2.Confirmations?
    }

    private struct Window {
        let armed: Armed
        let terms: KeyRing.Terms
        let armer: KeyRing.Entry
        var shares = 0
        var attempt: Attempt?
    }

    private struct State {
        var window: Window?
        var outcome: Outcome?
        /// The number of attempts.
        var attempts: UInt64 = 0

        /// Returns the window that is open now.
        mutating func open(_ now: ContinuousClock.Instant) -> Window? {
            if let end = window?.armed.end, end <= now { close(.expired) }
            return window
        }

        mutating func close(_ outcome: Outcome) { (window, self.outcome) = (nil, outcome) }
    }

    private let state = Mutex(State())

    package init() {}

    /// Makes a PIN. The one before ends.
    ///
    /// - Parameter armer: The key of the operator that wants it.
    package func arm(
        _ terms: KeyRing.Terms,
        length: Int,
        by armer: KeyRing.Entry,
        now: ContinuousClock.Instant
    ) -> Armed {
        let armed = Armed(pin: .random(length: length), end: now + Self.time)
        state.withLock { state in
            state.window = Window(armed: armed, terms: terms, armer: armer)
            state.outcome = .armed
        }
        return armed
    }

    /// Ends the PIN.
    package func disarm(now: ContinuousClock.Instant) {
        state.withLock { state in
            if state.open(now) != nil { state.close(.cancelled) }
        }
    }

    /// Returns what has become of the last PIN, and until when it is good; `nil` if there was none.
    package func status(now: ContinuousClock.Instant) -> (outcome: Outcome, end: ContinuousClock.Instant?)? {
        state.withLock { state in
            let end = state.open(now)?.armed.end
            return state.outcome.map { ($0, end) }
        }
    }

    /// Begins with a client's share, and returns the relay's. It takes some 50 ms.
    ///
    /// - Parameters:
    ///   - client: The certificate that the client shows.
    ///   - relay: The relay's certificate.
    ///   - name: How the client wants to be called.
    package func begin(
        _ share: [UInt8],
        from client: Fingerprint,
        to relay: Fingerprint,
        named name: String,
        now: ContinuousClock.Instant
    ) throws(Refusal) -> [UInt8] {
        guard SPAKE2.isShare(share) else { throw .noShare }
        let (pin, number) = try state.withLock { state throws(Refusal) in
            guard let window = state.open(now) else { throw .notArmed }
            let current = window.attempt.flatMap { $0.end > now ? $0 : nil }
            if let current, current.client != client || current.confirmations == nil { throw .busy }
            guard window.shares < Self.mostShares else {
                state.close(.wrongPIN)
                throw .notArmed
            }
            state.attempts &+= 1
            state.window?.shares += 1
            // Beginning again takes no more time than the first beginning: others wait.
            let end = current?.end ?? now + Self.attemptTime
            state.window?.attempt = Attempt(number: state.attempts, client: client, name: name, end: end)
            return (window.armed.pin, state.attempts)
        }
        let exchange = pin.exchange(as: .b, client: client, relay: relay)
        let confirmations = exchange?.confirmations(with: share)
        return try state.withLock { state throws(Refusal) in
            guard state.window?.attempt?.number == number else { throw .notArmed }
            guard let exchange, let confirmations else {
                state.window?.attempt = nil
                throw .noMemory
            }
            state.window?.attempt?.confirmations = confirmations
            return exchange.share
        }
    }

    /// Judges a client's proof. A wrong one burns the PIN, and a right one uses it up.
    package func confirm(
        _ proof: [UInt8],
        from client: Fingerprint,
        now: ContinuousClock.Instant
    ) throws(Refusal) -> Proved {
        try state.withLock { state throws(Refusal) in
            guard let window = state.open(now) else { throw .notArmed }
            guard let attempt = window.attempt, attempt.client == client, attempt.end > now,
                let confirmations = attempt.confirmations
            else { throw .noShare }
            guard confirmations.confirm(proof) else {
                state.close(.wrongPIN)
                throw .wrongPIN
            }
            state.close(.proved)
            return Proved(
                proof: confirmations.own,
                name: attempt.name,
                terms: window.terms,
                armer: window.armer
            )
        }
    }

    /// Records that a client which has proved to know the PIN is kept under a name; `nil` if it could not be kept.
    package func finish(_ proved: Proved, as name: String?) {
        state.withLock { state in
            // Another PIN may have been armed meanwhile.
            guard state.outcome == .proved else { return }
            state.outcome = name.map(Outcome.paired) ?? .failed
        }
    }
}
