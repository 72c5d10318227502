import Synchronization
package import Wire

/// The way to a desktop's clipboard: whether there is one, and a backend on demand.
package protocol ClipboardAccess: Sendable {
    /// Returns why the agent cannot use the desktop's clipboard, and what to do; `nil` if it can. Takes seconds if the
    /// desktop does not answer.
    func problem() -> String?
    /// - Throws: `refused`, with `noBackend` if the desktop has no clipboard that the agent can use.
    func open() throws(ClipboardFailure) -> any ClipboardBackend
}

/// The keeper of the desktop's clipboard. Its thread carries out the relay's orders one by one, and serves programs
/// that paste what was set.
///
/// It lives as long as the agent, because on Wayland and X11 the program that has set a content must hand it out.
package final class ClipboardDesk: Sendable {
    private struct Waiting: Sendable {
        let order: ClipboardOrder
        let answer: @Sendable (ClipboardReport) -> Void
    }

    /// The most orders that may wait. Each may have 16 MiB.
    private static let capacity = 4

    private let orders = Mutex<[Waiting]>([])
    private let wake: Event
    private let stop: Event
    private let access: any ClipboardAccess
    private let refusal: @Sendable () -> String?

    /// - Parameters:
    ///   - stop: Ends ``run()`` and its waits.
    ///   - refusal: Returns why nobody may act on the desktop now; `nil` if it is allowed.
    package init(
        _ access: any ClipboardAccess,
        stop: Event,
        refusal: @escaping @Sendable () -> String? = { nil }
    ) throws(ResourceShortage) {
        wake = try Event()
        self.refusal = refusal
        self.stop = stop
        self.access = access
    }

    /// Whether the desktop has a clipboard that the agent can use. Asks the desktop.
    package var isAvailable: Bool { refusal() == nil && access.problem() == nil }

    /// Accepts an order. If too many are waiting, it answers at once.
    package func take(_ order: ClipboardOrder, answer: @escaping @Sendable (ClipboardReport) -> Void) {
        let isAccepted = orders.withLock { orders in
            guard orders.count < Self.capacity else { return false }
            orders.append(Waiting(order: order, answer: answer))
            return true
        }
        guard isAccepted else {
            let detail = "\(Self.capacity) orders wait for the clipboard."
            return answer(ClipboardReport(id: order.id, outcome: .refused(.busy, detail: detail)))
        }
        wake.set()
    }

    /// Carries out orders until `stop` is set, then gives up what was set.
    package func run() {
        var backend: (any ClipboardBackend)?
        defer { backend?.close() }
        while !stop.isSet {
            wake.clear()
            if let waiting = orders.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
                let outcome = carryOut(waiting.order.request, &backend)
                waiting.answer(ClipboardReport(id: waiting.order.id, outcome: outcome))
            } else if let open = backend {
                do throws(ClipboardFailure) {
                    try open.serve(until: [wake, stop])
                } catch {
                    // The desktop is gone, and the content with it. The next order connects again.
                    open.close()
                    backend = nil
                }
            } else {
                _ = Event.wait(forAnyOf: [wake, stop], until: nil)
            }
        }
    }

    private func carryOut(
        _ request: ClipboardOrder.Request,
        _ backend: inout (any ClipboardBackend)?
    ) -> ClipboardReport.Outcome {
        if let refusal = refusal() { return .refused(.noBackend, detail: refusal) }
        do throws(ClipboardFailure) {
            let open = if let backend { backend } else { try access.open() }
            backend = open
            switch request {
            case .set(let content):
                try open.set(content, stop: stop)
                return .done
            case .get(let kind):
                let content = try open.get(kind, stop: stop)
                guard !content.isTooLarge else { throw .tooLarge(kind) }
                guard content.isOfItsKind else {
                    let what = kind == .text ? "text is not UTF-8" : "image is not a PNG file"
                    return .refused(.malformed, detail: "The clipboard's \(what).")
                }
                return .content(content)
            }
        } catch {
            switch error {
            case .refused(let refusal, let detail): return .refused(refusal, detail: detail)
            case .lost(let detail):
                backend?.close()
                backend = nil
                return .refused(.failed, detail: detail)
            }
        }
    }
}
