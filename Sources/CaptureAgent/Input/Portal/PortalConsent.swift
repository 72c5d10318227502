import Synchronization
package import Wire

/// A person's consent to act on the desktop, through its portal.
///
/// It is asked for when the agent starts, in a thread of its own. Nobody is asked again who has refused, or has ended
/// what was granted. The portal is asked again after it has restarted.
package final class PortalConsent: InputAccess {
    private enum State: Sendable {
        /// Nobody may act, with the reason and what to do.
        case none(String)
        case granted(RemoteDesktopPortal)
    }

    /// The pause before the portal is asked again, in ns.
    private static let pause: UInt64 = .milliseconds(2_000)

    private static let starting = "The agent has not asked the desktop's portal yet."
    private static let asking =
        "The desktop asks a person whether the agent may act: answer its dialog. It asks at every start of the agent."
    private static let ended =
        "A person has ended the permission to act. To be asked again, stop the broadcast and start it."
    private static let lost = "The desktop's portal has ended, and with it the permission to act. It is asked again."

    private let timeout: UInt64
    private let state = Mutex(State.none(PortalConsent.starting))
    /// Set after a session is given up, because it does not work, or because the agent ends.
    private let givenUp: Event

    /// - Parameter timeout: How long a person may take to answer, in ns.
    package init(timeout: UInt64) throws(ResourceShortage) {
        self.timeout = timeout
        givenUp = try Event()
    }

    package func capabilities() -> InputCapabilities {
        switch state.withLock({ $0 }) {
        case .none(let problem): InputCapabilities(backend: InputCapabilities.none, problem: problem)
        case .granted(let session): PortalInput.capabilities(of: session)
        }
    }

    package func refusal() -> String? {
        if case .none(let problem) = state.withLock({ $0 }) { problem } else { nil }
    }

    package func open() throws(InputFailure) -> any InputBackend {
        switch state.withLock({ $0 }) {
        case .none(let problem): throw .lost(problem)
        case .granted(let session): return PortalInput(session, closed: givenUp)
        }
    }

    /// Asks, and follows what becomes of the permission, until `stop` is set.
    ///
    /// - Parameter changed: Called after each change of what is allowed.
    package func run(stop: Event, changed: () -> Void) {
        while !stop.isSet {
            do throws(BusError) {
                let session = try RemoteDesktopPortal(timeout: timeout, stop: stop) { set(.none(Self.asking), changed) }
                defer { session.close() }
                set(.granted(session), changed)
                let ending = session.waitForEnd(orStop: stop, givenUp: givenUp)
                if case .closed = ending { return set(.none(Self.ended), changed) }
                set(.none(Self.lost), changed)
            } catch {
                let refusal = PortalRefusal(error, timeout: timeout)
                set(.none(refusal.detail), changed)
                if refusal.isFinal { return }
            }
            if stop.wait(until: MonotonicClock.now + Self.pause) { return }
        }
    }

    private func set(_ state: State, _ changed: () -> Void) {
        self.state.withLock { $0 = state }
        changed()
    }
}

/// Why the portal lets nobody act.
struct PortalRefusal {
    /// The reason and what to do, for people.
    let detail: String
    /// Whether the portal is not asked again, because a person would be, too.
    let isFinal: Bool

    /// - Parameter timeout: How long a person had to answer, in ns.
    init(_ error: BusError, timeout: UInt64) {
        let again = "To be asked again, stop the broadcast and start it."
        switch error {
        case .refused(DesktopPortal.cancelled, _):
            self.init("A person has refused in the desktop's dialog that the agent acts. \(again)", isFinal: true)
        case .timeout:
            let seconds = timeout / 1_000_000_000
            self.init(
                "Nobody has answered the desktop's dialog within \(seconds) s, or the portal hangs. \(again)",
                isFinal: true
            )
        case .refused(DesktopPortal.failed, let method):
            self.init(
                "The portal's \(method) failed. Its backend's log says why. \(again)",
                isFinal: true
            )
        case .refused(let name, let message)
        where name.hasSuffix("UnknownMethod") || name.hasSuffix("UnknownInterface") || name.hasSuffix("InvalidArgs"):
            self.init(
                "The desktop's portal lets no program act: it has no RemoteDesktop (\(message)), as "
                    + "xdg-desktop-portal-wlr has none. Set the device's input to auto.",
                isFinal: false
            )
        case .refused(let name, let message) where name.hasSuffix("ServiceUnknown") || name.contains("Spawn"):
            self.init(
                "xdg-desktop-portal is not there (\(message)). Install it with a backend for the desktop.",
                isFinal: false
            )
        case .refused(DesktopPortal.gone, _):
            self.init("xdg-desktop-portal ended while it was asked. It is asked again.", isFinal: false)
        case .refused(let name, let message):
            self.init("The desktop's portal refused: \(message) (\(name)). \(again)", isFinal: true)
        case .noBus, .stopped, .malformed:
            self.init(SourceError(bus: error).detail, isFinal: false)
        }
    }

    private init(_ detail: String, isFinal: Bool) {
        self.detail = detail
        self.isFinal = isFinal
    }
}
