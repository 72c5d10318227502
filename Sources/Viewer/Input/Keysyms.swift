/// The X keysyms (X11/keysymdef.h) of this machine's keys, by their names in SDL.
package enum Keysyms {
    /// Keys that make no character.
    private static let named: [String: UInt32] = [
        "Backspace": 0xFF08, "Tab": 0xFF09, "Return": 0xFF0D, "Pause": 0xFF13, "Escape": 0xFF1B, "Delete": 0xFFFF,
        "Home": 0xFF50, "Left": 0xFF51, "Up": 0xFF52, "Right": 0xFF53, "Down": 0xFF54, "PageUp": 0xFF55,
        "PageDown": 0xFF56, "End": 0xFF57, "PrintScreen": 0xFF61, "Insert": 0xFF63, "Undo": 0xFF65, "Find": 0xFF68,
        "Application": 0xFF67, "Menu": 0xFF67, "Help": 0xFF6A, "Keypad Enter": 0xFF8D,
        "Left Shift": 0xFFE1, "Right Shift": 0xFFE2, "Left Ctrl": 0xFFE3, "Right Ctrl": 0xFFE4,
        "Left Alt": 0xFFE9, "Right Alt": 0xFFEA, "Left GUI": 0xFFEB, "Right GUI": 0xFFEC,
        "VolumeDown": 0x1008_FF11, "Mute": 0x1008_FF12, "VolumeUp": 0x1008_FF13, "AudioMute": 0x1008_FF12,
        "AudioPlay": 0x1008_FF14, "AudioStop": 0x1008_FF15, "AudioPrev": 0x1008_FF16, "AudioNext": 0x1008_FF17,
    ]

    /// Returns the keysym of a key that makes no character; `nil` if it makes one, or is a lock, whose effect is in the
    /// characters already.
    package static func named(_ name: String) -> UInt32? {
        if let keysym = named[name] { return keysym }
        guard name.hasPrefix("F"), let number = UInt32(name.dropFirst()), (1...35).contains(number) else { return nil }
        return 0xFFBD + number
    }

    /// Returns the keysym of a character.
    package static func character(_ scalar: Unicode.Scalar) -> UInt32 {
        let isLatin1 = (0x20..<0x7F).contains(scalar.value) || (0xA0..<0x100).contains(scalar.value)
        return isLatin1 ? scalar.value : 0x0100_0000 + scalar.value
    }
}
