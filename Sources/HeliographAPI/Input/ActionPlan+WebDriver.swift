import Wire

/// WebDriver's actions.
extension ActionPlan {
    /// What is known of a pointer between its actions.
    private struct Pointer {
        var place: Point?
        var isTouching = false
    }

    /// A step at a time of a tick, ms.
    private struct Event {
        let time: Int
        let step: InputStep
    }

    /// A notch of a wheel, in pixels.
    private static let notch = 120.0

    /// Adds the actions of all sources, tick after tick (WebDriver, section 15.6, *perform actions*).
    ///
    /// All actions of a tick begin together, and the next tick begins when the longest of them is over.
    mutating func add(_ sources: [ActionSource]) throws(ActionFault) {
        let touches = sources.filter { $0.type == .pointer && $0.parameters?.pointerType == .touch }.count
        guard touches <= Self.maximumTouches else {
            throw ActionFault(
                .outOfRange,
                "actions has \(touches) fingers; allowed: \(Self.maximumTouches)",
                field: "actions"
            )
        }
        if let twin = sources.first(where: { source in sources.count { $0.id == source.id } > 1 }) {
            throw ActionFault(.unknownValue, "two sources have the id \"\(twin.id)\"", field: "actions")
        }
        var pointers: [String: Pointer] = [:]
        for tick in 0..<(sources.map(\.actions.count).max() ?? 0) {
            let actions = sources.compactMap { $0.actions.dropFirst(tick).first }
            let duration = actions.map { $0.lasts ? $0.duration ?? 0 : 0 }.max() ?? 0
            var events: [Event] = []
            var finger: UInt8 = 0
            for (index, source) in sources.enumerated() {
                let isTouch = source.parameters?.pointerType == .touch
                defer { if isTouch { finger &+= 1 } }
                guard let action = source.actions.dropFirst(tick).first else { continue }
                var pointer = pointers[source.id] ?? Pointer()
                do throws(ActionFault) {
                    events += try Self.events(of: action, isTouch ? finger : nil, &pointer, tick: duration)
                } catch {
                    throw ActionFault(error.code, error.detail, field: "actions.\(index).actions.\(tick)")
                }
                pointers[source.id] = pointer
                guard events.count <= InputOrder.maximumSteps else { break }
            }
            try add(events, for: duration)
        }
    }

    private static let maximumTouches = 10

    /// Adds the events of a tick by their time; those of the same time in the order of their sources.
    private mutating func add(_ events: [Event], for duration: Int) throws(ActionFault) {
        var now = 0
        let sorted = events.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
        for event in sorted.map(\.element) {
            try wait(event.time - now)
            now = event.time
            try add(event.step)
        }
        try wait(duration - now)
    }

    /// Returns the events of an action.
    ///
    /// - Parameters:
    ///   - finger: The touch's number; `nil` for a mouse.
    ///   - tick: How long the tick lasts, ms.
    private static func events(
        of action: ActionSource.Action,
        _ finger: UInt8?,
        _ pointer: inout Pointer,
        tick: Int
    ) throws(ActionFault) -> [Event] {
        switch action.type {
        case .pause: return []
        case .keyDown, .keyUp:
            return [Event(time: 0, step: .key(keysym: try keysym(action.value), isDown: action.type == .keyDown))]
        case .pointerDown, .pointerUp, .pointerCancel:
            guard let finger else {
                guard action.type != .pointerCancel else {
                    throw ActionFault(.unknownValue, "pointerCancel is for a touch, not for a mouse")
                }
                let button = ActionsRequest.MouseButton(webDriver: action.button ?? 0)
                return [Event(time: 0, step: .button(button.code, isDown: action.type == .pointerDown))]
            }
            return try touch(action.type, finger, &pointer)
        case .pointerMove: return try move(action, finger, &pointer, duration: action.duration ?? tick)
        case .scroll: return scroll(action, duration: action.duration ?? tick)
        }
    }

    private static func keysym(_ value: String?) throws(ActionFault) -> UInt32 {
        guard let value, let character = value.unicodeScalars.first, value.unicodeScalars.count == 1 else {
            throw ActionFault(.unknownValue, "value must be one character, or WebDriver's code of one key")
        }
        guard let keysym = KeyNames.keysym(webDriver: character) else {
            let code = String(character.value, radix: 16, uppercase: true)
            throw ActionFault(.unknownValue, "value is U+\(code), which is not a key in WebDriver")
        }
        return keysym
    }

    private static func touch(
        _ type: ActionSource.Action.Kind,
        _ finger: UInt8,
        _ pointer: inout Pointer
    ) throws(ActionFault) -> [Event] {
        guard let place = pointer.place else {
            throw ActionFault(.unknownValue, "\(type.rawValue) of a touch needs a pointerMove before it")
        }
        guard pointer.isTouching == (type != .pointerDown) else {
            let state = pointer.isTouching ? "is down already" : "is not down"
            throw ActionFault(.unknownValue, "\(type.rawValue): the finger \(state)")
        }
        pointer.isTouching = type == .pointerDown
        let phase: InputStep.TouchPhase =
            switch type {
            case .pointerDown: .down
            case .pointerUp: .up
            default: .cancel
            }
        return [Event(time: 0, step: .touch(id: finger, phase: phase, x: place.x, y: place.y))]
    }

    private static func move(
        _ action: ActionSource.Action,
        _ finger: UInt8?,
        _ pointer: inout Pointer,
        duration: Int
    ) throws(ActionFault) -> [Event] {
        let (x, y) = (action.x ?? 0, action.y ?? 0)
        let start = pointer.place
        let target: Point
        if action.origin != .pointer {
            target = Point(x: centred(x), y: centred(y))
        } else if let start {
            target = Point(x: start.x + x, y: start.y + y)
        } else {
            guard finger == nil else {
                throw ActionFault(.unknownValue, "a touch's first pointerMove needs the origin viewport")
            }
            // Only the desktop knows where the pointer is.
            let course = Array(Course(duration))
            return course.map { time, _ in
                Event(time: time, step: .pointerBy(dx: x / Double(course.count), dy: y / Double(course.count)))
            }
        }
        pointer.place = target
        func event(_ time: Int, _ point: Point) -> [Event] {
            guard let finger else { return [Event(time: time, step: .pointer(x: point.x, y: point.y))] }
            guard pointer.isTouching else { return [] }
            return [Event(time: time, step: .touch(id: finger, phase: .move, x: point.x, y: point.y))]
        }
        guard let start else {
            // Its way is unknown, so it arrives in one step.
            return event(duration, target)
        }
        return Course(duration).flatMap { time, share in event(time, start.towards(target, share)) }
    }

    /// Returns the events of a wheel: on each axis at most one for each notch, because some desktops scroll by no less.
    private static func scroll(_ action: ActionSource.Action, duration: Int) -> [Event] {
        func parts(of distance: Double) -> Int { min(max(1, Int(abs(distance) / notch)), Course.count(duration)) }
        let (dx, dy) = (action.deltaX ?? 0, action.deltaY ?? 0)
        let place = Event(time: 0, step: .pointer(x: centred(action.x ?? 0), y: centred(action.y ?? 0)))
        func events(_ distance: Double, _ step: (Double) -> InputStep) -> [Event] {
            guard distance != 0 else { return [] }
            let parts = parts(of: distance)
            return (1...parts).map { Event(time: duration * $0 / parts, step: step(distance / Double(parts))) }
        }
        return [place] + events(dx) { .scroll(dx: $0, dy: 0) } + events(dy) { .scroll(dx: 0, dy: $0) }
    }
}

extension ActionSource.Action {
    /// Whether its duration makes the tick longer.
    fileprivate var lasts: Bool {
        switch type {
        case .pause, .pointerMove, .scroll: true
        case .keyDown, .keyUp, .pointerDown, .pointerUp, .pointerCancel: false
        }
    }
}
