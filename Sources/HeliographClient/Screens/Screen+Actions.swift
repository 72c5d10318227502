import HeliographAPI

/// How an action is done.
public struct ActionOptions: Sendable, Hashable {
    /// The ``Snapshot/geometry`` of the snapshot that the places are from. If the screen has another size or
    /// orientation by now, nothing is done, and the error's code is `geometry_changed`.
    public var geometry: UInt32?
    /// Whether to take the device from another controller at once.
    public var takes = false

    public init(geometry: UInt32? = nil, takes: Bool = false) { (self.geometry, self.takes) = (geometry, takes) }
}

/// What was done.
public struct ActionDone: Sendable {
    /// Just before the desktop got the first event, on the session's clock, µs. Given to ``ScreenCondition/after``, a
    /// wait sees all that the action changes. `nil` without a session.
    public let startPTS: Int64?
    /// Just before the desktop got the last event, likewise.
    public let pts: Int64?
}

/// What people do with a pointer and a keyboard. Places are pixels of a snapshot, and a whole number is the middle of
/// its pixel. Each function returns when the desktop has taken all of it.
///
/// All throw ``RelayError`` with these codes, among others: `no_input` if the desktop cannot do it, `out_of_range` if a
/// place is outside the picture, `controlled` if another controller has the device.
extension Screen {
    /// Clicks there.
    @discardableResult
    public func click(
        _ x: Double,
        _ y: Double,
        button: Input.Button = .left,
        count: Int = 1,
        _ options: ActionOptions = ActionOptions()
    ) async throws(RelayError) -> ActionDone {
        let click: JSONValue = [
            "x": .number(x), "y": .number(y), "button": .string("\(button)"), "count": .integer(count),
        ]
        return try await act("click", click, options)
    }

    /// Taps there with a finger.
    @discardableResult
    public func tap(
        _ x: Double,
        _ y: Double,
        _ options: ActionOptions = ActionOptions()
    ) async throws(RelayError) -> ActionDone {
        try await act("tap", ["x": .number(x), "y": .number(y)], options)
    }

    /// Swipes with a finger.
    @discardableResult
    public func swipe(
        from begin: (x: Double, y: Double),
        to end: (x: Double, y: Double),
        in duration: Duration = .milliseconds(300),
        _ options: ActionOptions = ActionOptions()
    ) async throws(RelayError) -> ActionDone {
        try await act("swipe", Self.stroke(begin, end, duration), options)
    }

    /// Drags with the left button.
    @discardableResult
    public func drag(
        from begin: (x: Double, y: Double),
        to end: (x: Double, y: Double),
        in duration: Duration = .milliseconds(300),
        _ options: ActionOptions = ActionOptions()
    ) async throws(RelayError) -> ActionDone {
        try await act("drag", Self.stroke(begin, end, duration), options)
    }

    /// Turns the wheel there, in pixels: right and down are positive. A notch is up to 120.
    @discardableResult
    public func scroll(
        _ x: Double,
        _ y: Double,
        dx: Double = 0,
        dy: Double = 0,
        _ options: ActionOptions = ActionOptions()
    ) async throws(RelayError) -> ActionDone {
        let scroll: JSONValue = ["x": .number(x), "y": .number(y), "dx": .number(dx), "dy": .number(dy)]
        return try await act("scroll", scroll, options)
    }

    /// Types a text. Line feeds are Return, tabs are Tab.
    @discardableResult
    public func type(
        _ text: String,
        _ options: ActionOptions = ActionOptions()
    ) async throws(RelayError) -> ActionDone { try await act("type", .string(text), options) }

    /// Presses keys, such as `enter` or `ctrl+shift+t`. More chords come after spaces.
    @discardableResult
    public func press(
        _ chords: String,
        _ options: ActionOptions = ActionOptions()
    ) async throws(RelayError) -> ActionDone { try await act("press", .string(chords), options) }

    /// Gives the device's monitor another size, and returns when the source shows it.
    ///
    /// - Parameters:
    ///   - width: Pixels, 16 to 8192.
    ///   - height: Likewise.
    ///   - options: How it is done.
    /// - Throws: ``RelayError``: its code is `no_input` if the monitor has hardware, or its desktop cannot do that.
    @discardableResult
    public func resizeMonitor(
        width: Int,
        height: Int,
        _ options: ActionOptions = ActionOptions()
    ) async throws(RelayError) -> ActionDone {
        try await act("resize", ["width": .integer(width), "height": .integer(height)], options)
    }

    private static func stroke(
        _ begin: (x: Double, y: Double),
        _ end: (x: Double, y: Double),
        _ duration: Duration
    ) -> JSONValue {
        [
            "from": [.number(begin.x), .number(begin.y)], "to": [.number(end.x), .number(end.y)],
            "duration": .number(duration.seconds),
        ]
    }

    private func act(
        _ name: String,
        _ value: JSONValue,
        _ options: ActionOptions
    ) async throws(RelayError) -> ActionDone {
        var members: [JSONValue.Member] = [.init(name: name, value: value)]
        if let geometry = options.geometry { members.append(.init(name: "geometry", value: JSONValue(geometry))) }
        if options.takes { members.append(.init(name: "take", value: true)) }
        switch place.session {
        case .id(let id): members.append(.init(name: "session", value: .string("\(id)")))
        case .named(let session, _): members.append(.init(name: "session", value: .string(session)))
        case .shared: break
        }
        let report = try await relay.answer(
            to: Routes.act,
            at: .device(try await place.session.device(relay)),
            json: .object(members),
            timeout: RelayClient.actionTime
        ).report()
        return ActionDone(startPTS: report.startPts, pts: report.pts)
    }
}
