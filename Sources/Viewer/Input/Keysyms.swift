/// The X keysyms (X11/keysymdef.h) of this machine's keys, by their names in SDL.
package enum Keysyms {
    /// Keys that make no character.
    private static let named: [String: UInt32] = [
        "Backspace": 0xFF08, "Tab": 0xFF09, "Return": 0xFF0D, "Pause": 0xFF13, "Escape": 0xFF1B, "Delete": 0xFFFF,
        "Home": 0xFF50, "Left": 0xFF51, "Up": 0xFF52, "Right": 0xFF53, "Down": 0xFF54, "PageUp": 0xFF55,
        "PageDown": 0xFF56, "End": 0xFF57, "PrintScreen": 0xFF61, "Insert": 0xFF63, "Undo": 0xFF65, "Find": 0xFF68,
        "Application": 0xFF67, "Menu": 0xFF67, "Help": 0xFF6A, "Keypad Enter": 0xFF8D,
        "Left Shift": 0xFFE1, "Right Shift": 0xFFE2, "Left Ctrl": 0xFFE3, "Right Ctrl": 0xFFE4,
        "Left Alt": 0xFFE9, "Left GUI": 0xFFEB, "Right GUI": 0xFFEC,
        "VolumeDown": 0x1008_FF11, "Mute": 0x1008_FF12, "VolumeUp": 0x1008_FF13, "AudioMute": 0x1008_FF12,
        "AudioPlay": 0x1008_FF14, "AudioStop": 0x1008_FF15, "AudioPrev": 0x1008_FF16, "AudioNext": 0x1008_FF17,
    ]

    /// Keys of the number pad, as NumLock makes them.
    private static let keypad: [Substring: UInt32] = [
        "0": 0xFFB0, "1": 0xFFB1, "2": 0xFFB2, "3": 0xFFB3, "4": 0xFFB4, "5": 0xFFB5, "6": 0xFFB6, "7": 0xFFB7,
        "8": 0xFFB8, "9": 0xFFB9, "*": 0xFFAA, "+": 0xFFAB, "-": 0xFFAD, ".": 0xFFAE, "/": 0xFFAF, "=": 0xFFBD,
    ]

    /// Returns the keysym of a key that makes no character; `nil` if it makes one, or if its effect is in characters
    /// already: a lock, or the right Alt key, which is AltGr on many keyboards.
    package static func named(_ name: String) -> UInt32? {
        if let keysym = named[name] { return keysym }
        if name.hasPrefix("Keypad "), let keysym = keypad[name.dropFirst("Keypad ".count)] { return keysym }
        guard name.hasPrefix("F"), let number = UInt32(name.dropFirst()), (1...35).contains(number) else { return nil }
        return 0xFFBD + number
    }
}
