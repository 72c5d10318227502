/// How a desktop makes a keysym with its own keyboard layout.
package enum DesktopKey: Sendable, Equatable {
    /// By keys with these codes of the kernel: the modifiers for the key's level, then the key.
    case codes([UInt32])
    /// By a keysym, whose key the desktop finds.
    case keysym(UInt32)

    /// Finds the key of a keysym.
    ///
    /// - Parameters:
    ///   - keymap: The desktop's keymap; `nil` if it is unknown.
    ///   - owner: Whose keymap it is, for people, at the start of a sentence, such as `Mutter`.
    /// - Throws: `unsupported`, if the layout does not have the keysym for sure.
    package static func making(
        _ keysym: UInt32,
        with keymap: DesktopKeymap?,
        of owner: String
    ) throws(InputFailure) -> DesktopKey {
        guard let keymap else {
            guard isOnEveryKeyboard(keysym) else {
                throw .unsupported(
                    "\(owner)'s keyboard layout is unknown without a Wayland connection, and may lack "
                        + "\(Keysym.name(keysym)). Set WAYLAND_DISPLAY for the agent."
                )
            }
            return .keysym(keysym)
        }
        guard let key = keymap.way(to: keysym) else {
            throw .unsupported(
                "\(owner)'s keyboard layout does not have \(Keysym.name(keysym)). Add a layout that has it to the desktop."
            )
        }
        return key
    }

    /// Whether all usual layouts have a keysym: ASCII, function keys and modifiers.
    private static func isOnEveryKeyboard(_ keysym: UInt32) -> Bool {
        (0x20...0x7E).contains(keysym) || (0xFF00...0xFFFF).contains(keysym)
    }
}

/// The keys that are down on a desktop with its own keyboard layout. A value.
package struct DesktopKeys: Sendable {
    package enum Event: Sendable, Equatable {
        /// A key by the kernel's code.
        case code(UInt32, isDown: Bool)
        case keysym(UInt32, isDown: Bool)

        /// The method of a remote desktop, Mutter's or the portal's, that makes the event, and its arguments.
        var notification: (method: String, number: UInt32, isDown: Bool) {
            switch self {
            case .code(let code, let isDown): ("NotifyKeyboardKeycode", code, isDown)
            case .keysym(let keysym, let isDown): ("NotifyKeyboardKeysym", keysym, isDown)
            }
        }
    }

    /// The keys of the keysyms that are down, without the modifiers that others held before.
    private var presses: [UInt32: DesktopKey] = [:]

    package init() {}

    /// Presses a keysym. Modifiers that are down already are not pressed again.
    ///
    /// - Returns: The events; none if the keysym is down.
    package mutating func press(_ keysym: UInt32, by key: DesktopKey) -> [Event] {
        guard presses[keysym] == nil else { return [] }
        let key = withoutHeld(key)
        presses[keysym] = key
        return Self.events(key, isDown: true)
    }

    /// Releases a keysym. Modifiers that another keysym needs stay down.
    ///
    /// - Returns: The events; none if the keysym is not down.
    package mutating func release(_ keysym: UInt32) -> [Event] {
        guard let key = presses.removeValue(forKey: keysym) else { return [] }
        return Self.events(withoutHeld(key), isDown: false)
    }

    /// Returns the events of a key that goes down and up.
    package func tap(_ key: DesktopKey) -> [Event] {
        let key = withoutHeld(key)
        return Self.events(key, isDown: true) + Self.events(key, isDown: false)
    }

    /// Types a text, one character after the other. A character without a key is found before the first one is typed.
    ///
    /// - Parameters:
    ///   - pace: The time from character to character, in ns.
    ///   - key: Finds the key of a keysym.
    ///   - send: Makes the events of a character.
    /// - Returns: When the last character was made, in monotonic ns.
    func type(
        _ text: String,
        every pace: UInt64,
        stop: CaptureAgent.Event,
        key: (UInt32) throws(InputFailure) -> DesktopKey,
        send: ([Event]) throws(InputFailure) -> Void
    ) throws(InputFailure) -> UInt64 {
        let pressed = try Keysym.typing(text).map { (keysym: UInt32) throws(InputFailure) in try key(keysym) }
        var next = MonotonicClock.now
        var last = next
        for key in pressed {
            if stop.wait(until: next) { return last }
            last = MonotonicClock.now
            next = max(next, last) + pace
            try send(tap(key))
        }
        return last
    }

    private func withoutHeld(_ key: DesktopKey) -> DesktopKey {
        guard case .codes(let codes) = key else { return key }
        return .codes(codes.filter { !isHeld($0) })
    }

    private func isHeld(_ code: UInt32) -> Bool {
        presses.values.contains { key in
            if case .codes(let codes) = key { codes.contains(code) } else { false }
        }
    }

    private static func events(_ key: DesktopKey, isDown: Bool) -> [Event] {
        switch key {
        case .codes(let codes): (isDown ? codes : codes.reversed()).map { .code($0, isDown: isDown) }
        case .keysym(let keysym): [.keysym(keysym, isDown: isDown)]
        }
    }
}
