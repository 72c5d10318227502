import Media
package import Wire

/// Carries out orders on the desktop, and knows what they hold down. Owned by one thread.
///
/// It makes devices at the first step that needs them. If the desktop is lost, the next order makes new ones.
package final class InputHand {
    /// What a session shows.
    package enum Subject: Sendable {
        /// The relay names no session. Such an order has no coordinates.
        case none
        case unknownSession
        /// - `mapping`: What the session's coordinates mean; `nil` while the source shows nothing.
        /// - `pointer`: The pixel of the source's frames that the pointer is at, if the source says that.
        case session(InputMapping?, pointer: SIMD2<Int>?)
    }

    private struct Refusal: Error {
        let why: InputReport.Refusal
        let detail: String

        init(_ why: InputReport.Refusal, _ detail: String) { (self.why, self.detail) = (why, detail) }

        init(_ failure: InputFailure) {
            switch failure {
            case .unsupported(let detail): self.init(.unsupported, detail)
            case .moved(let detail): self.init(.geometryChanged, detail)
            case .lost(let detail): self.init(.failed, detail)
            }
        }
    }

    private let access: any InputAccess
    /// Ends the order that is carried out.
    private let interrupt: Event
    private var backend: (any InputBackend)?
    private var guardian: (any InputGuarding)?
    package private(set) var held = HeldInput()
    /// What the desktop offered at the last look; `nil` before the first.
    package private(set) var capabilities: InputCapabilities?
    /// Where the last step moved the pointer; `nil` if a step after it may have moved the pointer elsewhere.
    private var pointed: InputPlace?
    /// The times just before the first and the last event of the order; `nil` before the first.
    private var times: (first: UInt64, last: UInt64)?

    package init(_ access: any InputAccess, interrupt: Event) {
        self.access = access
        self.interrupt = interrupt
    }

    /// Looks at what the desktop offers now. Devices that exist show it themselves.
    package func look() {
        // Drops the devices of a desktop that is gone.
        try? flush()
        capabilities = backend?.capabilities ?? access.capabilities()
    }

    /// Carries out an order.
    ///
    /// - Parameter subject: Returns what the order's session shows now.
    package func carryOut(_ order: InputOrder, subject: () -> Subject) -> InputReport.Outcome {
        var step = 0
        times = nil
        do throws(Refusal) {
            let known = subject()
            let order = Self.placed(order, known)
            let mapping = try check(order, known, &step)
            step = 0
            for (index, next) in order.steps.enumerated() {
                step = index
                if next == .releaseAll {
                    releaseAll()
                } else {
                    if let device = next.device { try prepare(device) }
                    try checkInterrupt()
                    try perform(next, mapping, subject)
                    // Texts and pauses end early.
                    try checkInterrupt()
                }
            }
            try flush()
            let end = MonotonicClock.now
            return .done(began: times?.first ?? end, at: times?.last ?? end)
        } catch {
            // The desktop gets the steps that are done.
            try? flush()
            return .refused(error.why, step: UInt16(clamping: step), detail: error.detail)
        }
    }

    /// Releases everything that is held.
    package func releaseAll() {
        guard let backend else { return }
        for release in held.releases {
            do throws(InputFailure) {
                try inject(release, nil, backend)
            } catch {
                guard case .lost = error else { continue }
                return drop()
            }
        }
        held = HeldInput()
        // If the desktop is lost, nothing is held any more.
        try? flush()
        guardian?.held([])
    }

    /// Releases everything and ends the devices.
    package func close() {
        releaseAll()
        drop()
    }

    /// Returns the order with its places moved onto the screen, if it asks for that.
    private static func placed(_ order: InputOrder, _ subject: Subject) -> InputOrder {
        guard order.takesNearest, case .session(let mapping?, _) = subject else { return order }
        var order = order
        order.steps = order.steps.map { step in
            guard let (x, y) = step.place else { return step }
            let nearest = mapping.nearest(x: x, y: y)
            return switch step {
            case .pointer: .pointer(x: nearest.x, y: nearest.y)
            case .touch(let id, let phase, _, _): .touch(id: id, phase: phase, x: nearest.x, y: nearest.y)
            default: step
            }
        }
        return order
    }

    // MARK: - Checks

    /// Refuses an order that cannot be carried out, before its first step.
    ///
    /// - Parameter step: Set to the index of the step that is refused.
    /// - Returns: What coordinates mean; `nil` if the order has none.
    private func check(
        _ order: InputOrder,
        _ subject: Subject,
        _ step: inout Int
    ) throws(Refusal) -> InputMapping? {
        let needsPlaces = order.steps.contains { $0.place != nil }
        let mapping: InputMapping?
        switch subject {
        case .unknownSession: throw Refusal(.unknownSession, "The agent has no such session.")
        case .none where needsPlaces || order.geometry != 0:
            throw Refusal(.unknownSession, "Coordinates need a session.")
        case .none: mapping = nil
        case .session(nil, _) where needsPlaces || order.geometry != 0:
            throw Refusal(.noFrame, "The source has shown nothing yet, so coordinates mean nothing.")
        case .session(let known, _): mapping = known
        }
        if let mapping, order.geometry != 0, order.geometry != mapping.geometry {
            throw Refusal(.geometryChanged, "The screen's size, its orientation or the session's size has changed.")
        }
        for (index, next) in order.steps.enumerated() {
            step = index
            if let (x, y) = next.place, mapping?.place(x: x, y: y) == nil {
                throw Refusal(.outside, "\(x), \(y) is outside the picture, or on the border around its content.")
            }
            if case .text(let text) = next {
                do throws(InputFailure) {
                    _ = try Keysym.typing(text)
                } catch {
                    throw Refusal(error)
                }
            }
            try checkAbility(next)
        }
        return mapping
    }

    private func checkAbility(_ step: InputStep) throws(Refusal) {
        guard let device = step.device else { return }
        if capabilities == nil || capabilities?.backend == InputCapabilities.none { look() }
        guard let capabilities, capabilities.backend != InputCapabilities.none else {
            throw Refusal(.noBackend, capabilities?.problem ?? "The desktop offers no input.")
        }
        let isThere =
            switch device {
            case .pointer: capabilities.pointer
            case .keyboard: capabilities.keyboard
            case .touch: capabilities.touch
            }
        guard isThere else {
            throw Refusal(.unsupported, "The desktop's input, \(capabilities.backend), has no \(device.rawValue).")
        }
    }

    // MARK: - Steps

    private func checkInterrupt() throws(Refusal) {
        guard !interrupt.isSet else { throw Refusal(.failed, "The order was ended by a release.") }
    }

    private func perform(
        _ step: InputStep,
        _ mapping: InputMapping?,
        _ subject: () -> Subject
    ) throws(Refusal) {
        if case .pause(let milliseconds) = step {
            try flush()
            _ = interrupt.wait(until: MonotonicClock.now + .milliseconds(milliseconds))
            return
        }
        if case .resize(let width, let height) = step {
            return try resize(to: PictureSize(width: Int(width), height: Int(height)))
        }
        if step.place != nil {
            guard case .session(let now, let pointer) = subject(), now == mapping else {
                throw Refusal(.geometryChanged, "The screen's size or its orientation has changed during the order.")
            }
            if isNeedless(step, mapping, pointer) { return recordTime() }
        }
        let backend = try openedBackend()
        // The guard hears of what is pressed before the desktop does.
        var next = held
        next.follow(step)
        let isNew = next.items.count > held.items.count
        if isNew { guardian?.held(next.items) }
        do throws(InputFailure) {
            try inject(step, mapping, backend)
        } catch {
            if case .lost = error { drop() } else if isNew { guardian?.held(held.items) }
            throw Refusal(error)
        }
        follow(step, mapping)
        let isLess = next.items.count < held.items.count
        held = next
        guard isLess else { return }
        // The guard hears of what is released after the desktop has it.
        try flush()
        guardian?.held(held.items)
    }

    private func resize(to size: PictureSize) throws(Refusal) {
        releaseAll()
        recordTime()
        do throws(InputFailure) {
            try access.resize(to: size, stop: interrupt)
        } catch {
            throw Refusal(error)
        }
        // Mutter ends the devices of a monitor that has changed. The next step that needs some makes new ones.
        try? flush()
        pointed = nil
    }

    /// Whether a step moves the pointer to where it is: there the last move left it, and there the source shows it.
    ///
    /// A desktop may draw again for such a move. What a click then changes would wait for the refresh after that.
    private func isNeedless(_ step: InputStep, _ mapping: InputMapping?, _ pointer: SIMD2<Int>?) -> Bool {
        guard case .pointer(let x, let y) = step, let pointer, let place = mapping?.place(x: x, y: y) else {
            return false
        }
        // Desktops round the place that they report.
        return place == pointed && abs(place.x * Double(place.width) - Double(pointer.x)) <= 1
            && abs(place.y * Double(place.height) - Double(pointer.y)) <= 1
    }

    private func follow(_ step: InputStep, _ mapping: InputMapping?) {
        switch step {
        case .pointer(let x, let y): pointed = mapping?.place(x: x, y: y)
        case .pointerBy, .touch: pointed = nil
        case .button, .scroll, .key, .text, .pause, .releaseAll, .resize: break
        }
    }

    private func recordTime() {
        let now = MonotonicClock.now
        times = (times?.first ?? now, now)
    }

    private func inject(
        _ step: InputStep,
        _ mapping: InputMapping?,
        _ backend: any InputBackend
    ) throws(InputFailure) {
        recordTime()
        switch step {
        case .pointer(let x, let y):
            if let place = mapping?.place(x: x, y: y) { try backend.movePointer(to: place) }
        case .pointerBy(let dx, let dy):
            let distance = mapping?.distance(dx: dx, dy: dy) ?? (dx: dx, dy: dy)
            try backend.movePointer(dx: distance.dx, dy: distance.dy)
        case .button(let code, let isDown): try backend.setButton(code, isDown: isDown)
        case .scroll(let dx, let dy): try backend.scroll(dx: dx, dy: dy)
        case .touch(let id, let phase, let x, let y):
            // Fingers that are taken away need no place.
            let place = mapping?.place(x: x, y: y) ?? InputPlace(x: 0, y: 0, width: 1, height: 1)
            try backend.touch(id, phase, at: place)
        case .key(let keysym, let isDown): try backend.setKey(keysym, isDown: isDown)
        case .text(let text): times?.last = try backend.type(text, stop: interrupt)
        case .pause, .releaseAll, .resize: break
        }
    }

    private func flush() throws(Refusal) {
        guard let backend else { return }
        do throws(InputFailure) {
            try backend.flush()
        } catch {
            if case .lost = error { drop() }
            throw Refusal(error)
        }
    }

    private func prepare(_ device: InputDevice) throws(Refusal) {
        let backend = try openedBackend()
        do throws(InputFailure) {
            try backend.prepare(device)
        } catch {
            if case .lost = error { drop() }
            throw Refusal(error)
        }
    }

    private func openedBackend() throws(Refusal) -> any InputBackend {
        if let backend { return backend }
        do throws(InputFailure) {
            let backend = try access.open()
            do throws(InputFailure) {
                guardian = try backend.startGuard()
            } catch {
                backend.close()
                throw error
            }
            self.backend = backend
            capabilities = backend.capabilities
            return backend
        } catch {
            throw Refusal(error)
        }
    }

    /// Ends the devices. The guard releases what is still held.
    private func drop() {
        backend?.close()
        guardian?.close()
        (backend, guardian, held, pointed) = (nil, nil, HeldInput(), nil)
    }
}

extension InputCapabilities {
    /// The name that stands for no backend.
    package static let none = "none"
}

extension InputStep {
    /// The coordinates that must be within the picture.
    fileprivate var place: (x: Double, y: Double)? {
        switch self {
        case .pointer(let x, let y), .touch(_, .down, let x, let y), .touch(_, .move, let x, let y): (x, y)
        case .touch, .pointerBy, .button, .scroll, .key, .text, .pause, .releaseAll, .resize: nil
        }
    }

    /// The device that the step needs.
    fileprivate var device: InputDevice? {
        switch self {
        case .pointer, .pointerBy, .button, .scroll: .pointer
        case .key, .text: .keyboard
        case .touch: .touch
        case .pause, .releaseAll, .resize: nil
        }
    }
}
