package import NIOCore
package import Wire

/// Turns a viewer's input into orders for the agent: keeps their order, bounds them, and knows what is held. A pure
/// value.
///
/// Movement is worth nothing once there is newer movement. So it waits while an order is under way, and what comes
/// meanwhile is added to it. Everything else goes out at once, after the movement before it. Only a release waits until
/// its press is done: if the agent refuses the press, nothing may go up.
package struct LiveInput: Sendable {
    /// What can be held.
    private enum Item: Hashable {
        case button(UInt16)
        case key(UInt32)
        case touch(UInt8)

        /// The step that releases it. A finger is taken away without a tap.
        var release: InputStep {
            switch self {
            case .button(let code): .button(code, isDown: false)
            case .key(let keysym): .key(keysym: keysym, isDown: false)
            case .touch(let id): .touch(id: id, phase: .cancel, x: 0, y: 0)
            }
        }
    }

    package enum Action: Sendable, Equatable {
        /// Send the order to the agent. ``LiveInput/ended(_:isDone:)`` hears how it ends.
        case send(LiveOrder)
        case refuse(Refusal, String)
    }

    /// Why input is not accepted.
    package enum Refusal: Sendable {
        /// The viewer sends too much.
        case rate
        /// The desktop is behind.
        case busy
    }

    /// How long something is held without a message from the viewer.
    package static let longestSilence = TimeAmount.seconds(2)
    /// The most orders under way.
    private static let window = 8
    /// The most orders that wait, and the most bytes of their texts.
    private static let (longestQueue, largestQueue) = (256, 64 << 10)
    private static let maximumHeld = 32

    /// What is held, in the order in which it was pressed, each with the number of its press.
    private var held: [(item: Item, press: Int)] = []
    private var lastPress = 0
    /// The presses whose ends are not known yet.
    private var openPresses: Set<Int> = []
    private var waiting: [LiveOrder] = []
    private var underWay = 0
    private var presses = TokenBucket(capacity: 200, perSecond: 100)
    private var texts = TokenBucket(capacity: 32 << 10, perSecond: 1000)
    private var lastMessage: NIODeadline

    package init(now: NIODeadline) { lastMessage = now }

    // MARK: What comes in

    /// Accepts input from a viewer that controls the device. Messages about control itself are not for here.
    package mutating func take(_ input: ViewerInput, now: NIODeadline) -> [Action] {
        lastMessage = now
        switch input {
        case .beat:
            // The agent releases what is held when it gets no orders, so it hears that the viewer is there.
            return held.isEmpty || underWay > 0 ? [] : send(LiveOrder([]))
        case .move(let place):
            return add(place.order([place.step], takesNearest: !held.isEmpty))
        case .motion(let dx, let dy): return add(LiveOrder([.pointerBy(dx: dx, dy: dy)]))
        case .scroll(let dx, let dy, let place):
            let scroll = InputStep.scroll(dx: dx, dy: dy)
            return add(place.map { $0.order([$0.step, scroll]) } ?? LiveOrder([scroll]))
        case .button(let code, let isDown, let place): return button(code, isDown, at: place, now: now)
        case .touch(let contacts, let geometry): return touch(contacts, geometry, now: now)
        case .key(let keysym, let isDown):
            let order = LiveOrder([.key(keysym: keysym, isDown: isDown)])
            return isDown ? press(.key(keysym), by: order, now: now) : release(.key(keysym), by: order)
        case .text(let text):
            guard texts.take(text.utf8.count, now: now) else {
                return [.refuse(.rate, "more than 1000 bytes of text a second, after 32 KiB at once")]
            }
            return add(LiveOrder([.text(text)]))
        case .release: return releaseHeld()
        case .claim, .leave, .gamepad, .speech, .unknown: return []
        }
    }

    private mutating func button(
        _ code: UInt16,
        _ isDown: Bool,
        at place: ViewerInput.Place?,
        now: NIODeadline
    ) -> [Action] {
        let step = InputStep.button(code, isDown: isDown)
        if isDown {
            return press(.button(code), by: place.map { $0.order([$0.step, step]) } ?? LiveOrder([step]), now: now)
        }
        guard let press = press(of: .button(code)) else { return [] }
        // Two orders: a place that is refused must not keep the button down.
        let move = place.map { add($0.order([$0.step], takesNearest: true).after(press)) } ?? []
        return move + release(.button(code), by: LiveOrder([step]))
    }

    /// Moves come first, then each contact that goes down, then those that go up: an order that is refused must take
    /// no other contact's event with it.
    private mutating func touch(_ contacts: [ViewerInput.Contact], _ geometry: UInt32, now: NIODeadline) -> [Action] {
        var actions: [Action] = []
        let moves = contacts.filter { $0.phase == .move && press(of: .touch($0.id)) != nil }
        if !moves.isEmpty {
            actions += add(LiveOrder(moves.map(\.step), geometry: geometry, takesNearest: true))
        }
        for contact in contacts where contact.phase == .down {
            actions += press(.touch(contact.id), by: LiveOrder([contact.step], geometry: geometry), now: now)
        }
        for contact in contacts where contact.phase == .up || contact.phase == .cancel {
            actions += release(.touch(contact.id), by: LiveOrder([contact.step]))
        }
        return actions
    }

    /// Returns the number of the press that holds an item; `nil` if it is not held.
    private func press(of item: Item) -> Int? { held.first { $0.item == item }?.press }

    private mutating func press(_ item: Item, by order: LiveOrder, now: NIODeadline) -> [Action] {
        guard press(of: item) == nil else { return [] }
        guard held.count < Self.maximumHeld else { return [.refuse(.rate, "\(Self.maximumHeld) are held already")] }
        guard presses.take(now: now) else {
            return [.refuse(.rate, "more than 100 presses a second, after 200 at once")]
        }
        lastPress += 1
        held.append((item, lastPress))
        openPresses.insert(lastPress)
        var order = order
        order.press = lastPress
        return add(order)
    }

    private mutating func release(_ item: Item, by order: LiveOrder) -> [Action] {
        guard let press = press(of: item) else { return [] }
        held.removeAll { $0.item == item }
        return add(order.after(press))
    }

    // MARK: What goes out

    /// Records the end of an order.
    ///
    /// - Parameter isDone: Whether the desktop has all of its events.
    package mutating func ended(_ order: LiveOrder, isDone: Bool) -> [Action] {
        underWay = max(0, underWay - 1)
        openPresses.remove(order.press)
        guard !isDone else { return drain() }
        guard !order.releases else {
            // Nothing may stay down. This order goes ahead of all others.
            forget()
            return send(.releaseAll)
        }
        if order.press > 0 {
            held.removeAll { $0.press == order.press }
            waiting.removeAll { $0.formerPress == order.press }
        }
        return drain()
    }

    /// Releases what is held if the viewer has been silent for too long. Called periodically.
    package mutating func tick(now: NIODeadline) -> [Action] {
        guard !held.isEmpty, now - lastMessage >= Self.longestSilence else { return [] }
        return releaseHeld()
    }

    /// Forgets what waits and what is held.
    ///
    /// - Returns: The order that releases what was held; `nil` if nothing was.
    package mutating func drop() -> LiveOrder? {
        defer { forget() }
        // What waits to go down does not, and what waits to go up must.
        let unsent = Set(waiting.map(\.press).filter { $0 > 0 })
        let ups = waiting.filter { !unsent.contains($0.formerPress) }.flatMap(\.steps).filter(\.isRelease)
        let steps = ups + held.reversed().filter { !unsent.contains($0.press) }.map(\.item.release)
        return steps.isEmpty ? nil : LiveOrder(steps)
    }

    private mutating func forget() { (waiting, held, openPresses) = ([], [], []) }

    private mutating func releaseHeld() -> [Action] {
        guard !held.isEmpty else { return [] }
        let order = LiveOrder(held.reversed().map(\.item.release))
        held = []
        return add(order)
    }

    private mutating func add(_ order: LiveOrder) -> [Action] {
        if waiting.isEmpty || !waiting[waiting.count - 1].absorb(order) { waiting.append(order) }
        let bytes = waiting.reduce(0) { $0 + $1.textByteCount }
        guard waiting.count <= Self.longestQueue, bytes <= Self.largestQueue else {
            forget()
            return send(.releaseAll) + [.refuse(.busy, "the desktop is behind; everything was released")]
        }
        return drain()
    }

    /// Sends what waits and may go out now.
    private mutating func drain() -> [Action] {
        var actions: [Action] = []
        while let next = waiting.first, underWay < Self.window {
            // Movement that nothing follows may still be overtaken by newer movement.
            if underWay > 0, waiting.allSatisfy(\.isMovement) || openPresses.contains(next.formerPress) { break }
            waiting.removeFirst()
            actions += send(next)
        }
        return actions
    }

    private mutating func send(_ order: LiveOrder) -> [Action] {
        underWay += 1
        return [.send(order)]
    }
}

/// Steps of a viewer's input that the agent performs together.
package struct LiveOrder: Sendable, Equatable {
    package private(set) var steps: [InputStep]
    /// What places mean; 0 for whatever they mean now.
    package let geometry: UInt32
    package let takesNearest: Bool
    /// The number of the press that it does; 0 for none.
    fileprivate(set) var press = 0
    /// The number of the press that it ends; 0 for none.
    fileprivate(set) var formerPress = 0

    package init(_ steps: [InputStep], geometry: UInt32 = 0, takesNearest: Bool = false) {
        (self.steps, self.geometry, self.takesNearest) = (steps, geometry, takesNearest)
    }

    package static let releaseAll = LiveOrder([.releaseAll])

    fileprivate func after(_ press: Int) -> LiveOrder {
        var order = self
        order.formerPress = press
        return order
    }

    /// Whether steps need the session's picture to mean something. Others are done even if the session is gone.
    package var needsSession: Bool {
        geometry != 0
            || steps.contains { step in
                switch step {
                case .pointer, .pointerBy, .touch(_, .down, _, _), .touch(_, .move, _, _): true
                default: false
                }
            }
    }

    /// Whether it releases single items.
    fileprivate var releases: Bool { steps.contains(where: \.isRelease) }

    /// Whether it only moves something, so that newer movement can take its place.
    package var isMovement: Bool {
        steps.allSatisfy { step in
            switch step {
            case .pointer, .pointerBy, .scroll, .touch(_, .move, _, _): true
            default: false
            }
        }
    }

    /// The size of its texts.
    fileprivate var textByteCount: Int {
        steps.reduce(0) { if case .text(let text) = $1 { $0 + text.utf8.count } else { $0 } }
    }

    /// Adds newer movement of the same kind.
    ///
    /// - Returns: `false` if it is of another kind, or means another geometry. Nothing is added then.
    fileprivate mutating func absorb(_ newer: LiveOrder) -> Bool {
        guard isMovement, newer.isMovement, geometry == newer.geometry, takesNearest == newer.takesNearest,
            formerPress == newer.formerPress
        else { return false }
        switch (steps.first, steps.last, newer.steps.first, newer.steps.last) {
        case (.pointerBy(let dx, let dy)?, _, .pointerBy(let moreX, let moreY)?, _):
            steps = [.pointerBy(dx: Self.sum(dx, moreX), dy: Self.sum(dy, moreY))]
        case (.scroll(let dx, let dy)?, _, .scroll(let moreX, let moreY)?, _):
            steps = [.scroll(dx: Self.sum(dx, moreX), dy: Self.sum(dy, moreY))]
        case (.pointer?, .scroll(let dx, let dy)?, .pointer(let x, let y)?, .scroll(let moreX, let moreY)?):
            steps = [.pointer(x: x, y: y), .scroll(dx: Self.sum(dx, moreX), dy: Self.sum(dy, moreY))]
        case (.pointer?, .pointer?, .pointer?, .pointer?): steps = newer.steps
        case (.touch?, _, .touch?, _):
            for case .touch(let id, let phase, let x, let y) in newer.steps {
                steps.removeAll { if case .touch(id, _, _, _) = $0 { true } else { false } }
                steps.append(.touch(id: id, phase: phase, x: x, y: y))
            }
        default: return false
        }
        return true
    }

    /// Adds distances, within what an order may have.
    private static func sum(_ one: Double, _ other: Double) -> Double { min(max(one + other, -32_768), 32_768) }
}

extension InputStep {
    /// Whether it releases a single item.
    fileprivate var isRelease: Bool {
        switch self {
        case .button(_, false), .key(_, false), .touch(_, .up, _, _), .touch(_, .cancel, _, _): true
        default: false
        }
    }
}

extension ViewerInput.Place {
    fileprivate var step: InputStep { .pointer(x: x, y: y) }

    fileprivate func order(_ steps: [InputStep], takesNearest: Bool = false) -> LiveOrder {
        LiveOrder(steps, geometry: geometry, takesNearest: takesNearest)
    }
}

extension ViewerInput.Contact {
    fileprivate var step: InputStep { .touch(id: id, phase: phase, x: x, y: y) }
}
