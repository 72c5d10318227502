package import Wire

/// Makes an agent's one gamepad what the relay wants it to be. Owned by one thread.
///
/// It makes the gamepad neutral when the relay has been silent for 2 s, and before it ends it.
package final class GamepadHand {
    /// What the relay wants.
    package struct Wish: Sendable, Equatable {
        /// The gamepad; `nil` for none.
        package private(set) var pad: Pad?

        package struct Pad: Sendable, Equatable {
            var id: UInt32
            /// `nil` for any.
            var type: GamepadType?
            var state = GamepadState.neutral
            /// When the relay last said so, in monotonic ns.
            var told: UInt64
        }

        package init() {}

        /// Follows an order. One about another gamepad than the newest is out of date.
        package mutating func follow(_ order: GamepadOrder, now: UInt64) {
            switch order.action {
            case .connect(let type): pad = Pad(id: order.id, type: type, told: now)
            case .state(let state):
                guard pad?.id == order.id else { return }
                pad?.state = state
                pad?.told = now
            case .disconnect: if pad?.id == order.id { pad = nil }
            }
        }
    }

    private struct Current {
        let id: UInt32
        /// `nil` if it could not be made, or is lost.
        var device: (any GamepadDevice)?
        var shown: GamepadState?
        var told = GamepadFeedback()
        /// When feedback may be reported, in monotonic ns.
        var due: UInt64 = 0
    }

    package typealias Make = (GamepadType) throws(InputFailure) -> any GamepadDevice

    /// How long something is held without a word from the relay, in ns.
    package static let longestSilence: UInt64 = .milliseconds(2_000)
    /// The time between two reports of what applications want, in ns. The newest one counts.
    package static let reportInterval: UInt64 = .milliseconds(10)

    private let make: Make
    private let send: (GamepadReport) -> Void
    private var current: Current?
    private var silence: UInt64?
    /// When feedback that waits is reported.
    private var report: UInt64?

    /// - Parameters:
    ///   - make: Makes a device.
    ///   - send: Receives reports for the relay.
    package init(make: @escaping Make, send: @escaping (GamepadReport) -> Void) {
        (self.make, self.send) = (make, send)
    }

    /// The descriptor to wait for; `nil` for none.
    package var descriptor: Int32? { current?.device?.descriptor }

    /// When ``follow(_:now:)`` must be called although nothing has happened, in monotonic ns; `nil` for never.
    package var deadline: UInt64? { [silence, report, current?.device?.deadline].compactMap(\.self).min() }

    /// Does what is due: makes or ends the gamepad, shows its state, answers the kernel, reports to the relay.
    package func follow(_ wish: Wish, now: UInt64) {
        if current?.id != wish.pad?.id { end(now: now) }
        guard let pad = wish.pad else { return }
        if current == nil { begin(pad) }
        guard let device = current?.device else { return }
        do throws(InputFailure) {
            let isSilent = now >= pad.told + Self.longestSilence
            let state = isSilent ? .neutral : pad.state
            if current?.shown != state {
                try device.show(state, now: now)
                current?.shown = state
            }
            silence = state == .neutral ? nil : pad.told + Self.longestSilence
            try device.receive(now: now)
        } catch {
            device.close()
            current?.device = nil
            (silence, report) = (nil, nil)
            return send(GamepadReport(id: pad.id, .failed(error.detail)))
        }
        tell(device.feedback, of: pad.id, now: now)
    }

    /// Reports feedback that has changed, now or as soon as it may be reported.
    private func tell(_ feedback: GamepadFeedback, of id: UInt32, now: UInt64) {
        report = nil
        guard let current, current.told != feedback else { return }
        guard now >= current.due else {
            report = current.due
            return
        }
        self.current?.told = feedback
        self.current?.due = now + Self.reportInterval
        send(GamepadReport(id: id, .feedback(feedback)))
    }

    /// Makes the gamepad neutral and ends it.
    package func end(now: UInt64) {
        if let device = current?.device {
            // The kernel releases what is held when the device ends, so a failure changes nothing.
            _ = Result { () throws(InputFailure) in try device.show(.neutral, now: now) }
            device.close()
        }
        (current, silence, report) = (nil, nil, nil)
    }

    /// Makes the gamepad. If any type will do, the first one that can be made.
    private func begin(_ pad: Wish.Pad) {
        var problems: [String] = []
        for type in pad.type.map({ [$0] }) ?? GamepadType.allCases {
            do throws(InputFailure) {
                current = Current(id: pad.id, device: try make(type))
                return send(GamepadReport(id: pad.id, .connected(type)))
            } catch {
                problems.append(error.detail)
            }
        }
        current = Current(id: pad.id)
        send(GamepadReport(id: pad.id, .failed(problems.joined(separator: " "))))
    }
}

extension InputFailure {
    fileprivate var detail: String {
        switch self {
        case .unsupported(let detail), .moved(let detail), .lost(let detail): detail
        }
    }
}
