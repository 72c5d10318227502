import HeliographAPI

/// Turns this machine's keyboard events into keys of the device. A pure value.
///
/// A key that makes a character is sent as that character, once the text it makes is known: shifted and in this
/// machine's layout. With Ctrl, Alt or the GUI key there is no text, so the key's own character is sent.
package struct KeyboardState: Sendable {
    /// A key that went down, as SDL tells it.
    package struct Key: Sendable {
        /// The place on the keyboard.
        package let scancode: Int32
        /// SDL's name, such as `Left Shift` or `A`.
        package let name: String
        /// The character that it makes without Shift; `nil` for none.
        package let character: Unicode.Scalar?
        package let isRepeat: Bool
        package let hasShift: Bool
        /// Whether Ctrl, Alt or the GUI key is held, but not AltGr.
        package let isCommand: Bool

        package init(
            scancode: Int32,
            name: String,
            character: Unicode.Scalar?,
            isRepeat: Bool = false,
            hasShift: Bool = false,
            isCommand: Bool = false
        ) {
            (self.scancode, self.name, self.character) = (scancode, name, character)
            (self.isRepeat, self.hasShift, self.isCommand) = (isRepeat, hasShift, isCommand)
        }
    }

    /// What to send.
    package enum Output: Sendable, Hashable {
        case key(UInt32, isDown: Bool)
        case text(String)
    }

    /// What the next text is.
    private enum Expected {
        /// That of a method of input.
        case anything
        /// That of a key that went down.
        case character(of: Int32)
        /// That of a held key, which the device's desktop repeats itself.
        case repeated
    }

    private var expected = Expected.anything
    /// The keysyms of the keys that are held, by scancode.
    private var held: [Int32: UInt32] = [:]

    package init() {}

    /// Takes a key that went down.
    package mutating func down(_ key: Key) -> [Output] {
        expected = .anything
        guard !key.isRepeat else {
            if key.character != nil { expected = .repeated }
            return []
        }
        if let keysym = Keysyms.named(key.name) {
            let outputs = hold(keysym, key.scancode)
            // A key of the number pad makes its text, too.
            if key.name.hasPrefix("Keypad ") { expected = .repeated }
            return outputs
        }
        guard let character = key.character else { return [] }
        guard key.isCommand else {
            expected = .character(of: key.scancode)
            return []
        }
        let upper = Array(
            key.hasShift ? character.properties.uppercaseMapping.unicodeScalars : String(character).unicodeScalars
        )
        return hold(upper.count == 1 ? upper.first ?? character : character, key.scancode)
    }

    /// Takes the text that keys have made.
    package mutating func text(_ text: String) -> [Output] {
        defer { expected = .anything }
        switch expected {
        case .repeated: return []
        case .character(let scancode):
            guard let scalar = text.unicodeScalars.first, text.unicodeScalars.count == 1 else { return [.text(text)] }
            return hold(scalar, scancode)
        case .anything: return text.isEmpty ? [] : [.text(text)]
        }
    }

    /// Takes a key that went up.
    package mutating func up(scancode: Int32) -> [Output] {
        expected = .anything
        return held.removeValue(forKey: scancode).map { [.key($0, isDown: false)] } ?? []
    }

    private mutating func hold(_ character: Unicode.Scalar, _ scancode: Int32) -> [Output] {
        KeyNames.keysym(of: character).map { hold($0, scancode) } ?? []
    }

    private mutating func hold(_ keysym: UInt32, _ scancode: Int32) -> [Output] {
        let before = up(scancode: scancode)
        held[scancode] = keysym
        return before + [.key(keysym, isDown: true)]
    }
}
