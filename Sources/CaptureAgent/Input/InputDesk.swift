package import Wire

/// The keeper of the orders for the desktop, as long as the agent lives. Its thread carries them out one by one.
///
/// Orders come from one link at a time. What is held is released when the link ends, when no order has come for 2 s,
/// and at the end. An order that only releases goes ahead of all others and ends them.
package final class InputDesk: Sendable {
    private struct Waiting: Sendable {
        let session: SessionID
        let order: InputOrder
        let answer: @Sendable (InputReport) -> Void

        func refuse(_ refusal: InputReport.Refusal, _ detail: String) {
            answer(InputReport(id: order.id, outcome: .refused(refusal, step: 0, detail: detail)))
        }
    }

    private struct State: Sendable {
        var orders: [Waiting] = []
        /// Receives what the desktop offers; `nil` while there is no link.
        var announce: (@Sendable (InputCapabilities) -> Void)?
        /// Whether that has not been announced on this link.
        var isAnnouncementDue = false
        var isLookDue = true
        var isReleaseDue = false
        var isClosing = false
    }

    private enum Work {
        case order(Waiting)
        /// Release everything: the link has ended, or no order has come in time.
        case release
        case look
    }

    /// The most orders that may wait.
    private static let capacity = 64
    /// How long something is held after the last order, in ns.
    package static let longestSilence: UInt64 = .milliseconds(2_000)
    private static let released = "The order was ended by a release."

    private let state = Monitor(State())
    private let interrupt: Event
    private let access: any InputAccess
    private let addOthers: @Sendable (inout InputCapabilities) -> Void
    private let longestSilence: UInt64

    /// - Parameters:
    ///   - longestSilence: How long something is held after the last order, in ns.
    ///   - addOthers: Adds what else the agent can do: the clipboard, gamepads, a microphone, another size.
    package init(
        _ access: any InputAccess,
        longestSilence: UInt64 = InputDesk.longestSilence,
        addOthers: @escaping @Sendable (inout InputCapabilities) -> Void = { _ in }
    ) throws(ResourceShortage) {
        interrupt = try Event()
        self.access = access
        self.addOthers = addOthers
        self.longestSilence = longestSilence
    }

    // MARK: - The link's side

    /// Begins with a link, which hears what the desktop offers, and each change of it.
    package func attach(_ announce: @escaping @Sendable (InputCapabilities) -> Void) {
        state.update { state in
            state.announce = announce
            (state.isAnnouncementDue, state.isLookDue) = (true, true)
        }
    }

    /// Ends with the link: its orders end unanswered, and everything is released.
    package func detach() {
        state.update { state in
            (state.orders, state.announce, state.isReleaseDue) = ([], nil, true)
            interrupt.set()
        }
    }

    /// Accepts an order.
    ///
    /// - Parameter answer: Hears how it ends, once; at once if too many wait, never if the link ends before.
    package func take(_ order: InputOrder, of session: SessionID, answer: @escaping @Sendable (InputReport) -> Void) {
        let waiting = Waiting(session: session, order: order, answer: answer)
        let isRelease = !order.steps.isEmpty && order.steps.allSatisfy { $0 == .releaseAll }
        if isRelease {
            let ended = state.update { state in
                defer { state.orders = [waiting] }
                interrupt.set()
                return state.orders
            }
            for order in ended { order.refuse(.failed, Self.released) }
        } else {
            let isTaken = state.update { state in
                guard state.orders.count < Self.capacity else { return false }
                state.orders.append(waiting)
                return true
            }
            if !isTaken { waiting.refuse(.busy, "\(Self.capacity) orders wait for the desktop.") }
        }
    }

    /// Records that the source was opened, so the desktop may offer something else.
    package func desktopChanged() {
        state.update { $0.isLookDue = true }
    }

    /// Ends ``run(_:)``.
    package func close() {
        state.update { state in
            state.isClosing = true
            interrupt.set()
        }
    }

    // MARK: - The thread's side

    /// Carries out orders until the desk is closed, then releases what is held.
    ///
    /// - Parameter subject: Returns what a session shows.
    package func run(_ subject: (SessionID) -> InputHand.Subject) {
        let hand = InputHand(access, interrupt: interrupt)
        var others = InputCapabilities(backend: InputCapabilities.none)
        var known: InputCapabilities?
        var deadline: UInt64?
        while let work = next(until: deadline) {
            switch work {
            case .release: hand.releaseAll()
            case .look:
                hand.look()
                addOthers(&others)
            case .order(let waiting):
                let outcome = hand.carryOut(waiting.order) {
                    waiting.session == 0 ? .none : subject(waiting.session)
                }
                answer(waiting, outcome)
                deadline = MonotonicClock.now + longestSilence
            }
            if hand.held.isEmpty { deadline = nil }
            if var capabilities = hand.capabilities {
                (capabilities.clipboard, capabilities.gamepads) = (others.clipboard, others.gamepads)
                (capabilities.microphone, capabilities.resize) = (others.microphone, others.resize)
                announce(capabilities, &known)
            }
        }
        hand.close()
    }

    /// Waits for work, at most until `deadline`. Returns `nil` if the desk is closing.
    private func next(until deadline: UInt64?) -> Work? {
        state.wait { state in
            if state.isClosing { return .done(nil) }
            if state.isReleaseDue {
                state.isReleaseDue = false
                // The orders that it had to end are gone.
                interrupt.clear()
                return .done(.release)
            }
            if !state.orders.isEmpty {
                interrupt.clear()
                return .done(.order(state.orders.removeFirst()))
            }
            if let deadline, deadline <= MonotonicClock.now { return .done(.release) }
            guard state.isLookDue else { return .wait(until: deadline) }
            state.isLookDue = false
            return .done(.look)
        }
    }

    /// Answers an order, unless its link has ended.
    private func answer(_ waiting: Waiting, _ outcome: InputReport.Outcome) {
        guard state.withLock({ !$0.isReleaseDue }) else { return }
        waiting.answer(InputReport(id: waiting.order.id, outcome: outcome))
    }

    private func announce(_ capabilities: InputCapabilities, _ known: inout InputCapabilities?) {
        let announce = state.withLock { state -> (@Sendable (InputCapabilities) -> Void)? in
            guard state.isAnnouncementDue || capabilities != known else { return nil }
            state.isAnnouncementDue = false
            return state.announce
        }
        known = capabilities
        announce?(capabilities)
    }
}
