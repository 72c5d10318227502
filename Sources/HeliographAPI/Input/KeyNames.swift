/// The names of keys, and their X keysyms (X11 keysymdef.h and XF86keysym.h).
package enum KeyNames {
    /// The keys of a chord that was not understood.
    package struct Unknown: Error, Equatable {
        package let name: String
        /// The name that was probably meant; empty, or a question after a space.
        package let question: String
    }

    /// Most chords in one text.
    package static let maximumChords = 64

    /// Returns the keysym of a character: Latin-1 characters are their own, others have an offset.
    ///
    /// Line feeds are Return, and tabs are Tab. Other control characters have no key: `nil`.
    package static func keysym(of character: Unicode.Scalar) -> UInt32? {
        switch character.value {
        case 0x08: 0xFF08
        case 0x09: 0xFF09
        case 0x0A, 0x0D: 0xFF0D
        case 0x1B: 0xFF1B
        case 0x20...0x7E, 0xA0...0xFF: character.value
        case 0..<0xA0: nil
        default: 0x0100_0000 | character.value
        }
    }

    /// Returns the keysym of a key action's value in WebDriver: a character, or a code from U+E000 on that stands for a
    /// key (WebDriver, section 15.4.2); `nil` for a code without a key.
    package static func keysym(webDriver value: Unicode.Scalar) -> UInt32? {
        switch value.value {
        case 0xE01A...0xE023: 0xFFB0 | (value.value &- 0xE01A)
        case 0xE031...0xE03C: 0xFFBE &+ (value.value &- 0xE031)
        case 0xE000...0xF8FF: webDriver[value.value]
        default: keysym(of: value)
        }
    }

    /// Returns the keysyms of chords such as `ctrl+shift+t`, with spaces between them.
    ///
    /// A key is a name, in any letter case, or a character. With a modifier, a letter's case does not count: `Ctrl+C`
    /// is `ctrl+c`.
    package static func chords(_ text: String) throws(Unknown) -> [[UInt32]] {
        var chords: [[UInt32]] = []
        for word in text.split(separator: " ", omittingEmptySubsequences: true) {
            var chord: [UInt32] = []
            let names = parts(of: word)
            for name in names { chord.append(try keysym(named: name, isAlone: names.count == 1)) }
            chords.append(chord)
        }
        return chords
    }

    /// Splits a chord at its plus signs. One at the end, or alone, is a key.
    private static func parts(of chord: Substring) -> [String] {
        guard chord.hasSuffix("+") else { return split(chord) }
        let rest = chord.dropLast()
        guard !rest.isEmpty else { return ["+"] }
        // `ctrl++`, but also `ctrl+`, whose last key is missing.
        return split(rest.hasSuffix("+") ? rest.dropLast() : rest) + [rest.hasSuffix("+") ? "+" : ""]
    }

    private static func split(_ text: Substring) -> [String] {
        text.split(separator: "+", omittingEmptySubsequences: false).map(String.init)
    }

    private static func keysym(named name: String, isAlone: Bool) throws(Unknown) -> UInt32 {
        let lower = name.lowercased()
        if let keysym = all[lower] { return keysym }
        let text = isAlone ? name : lower
        if let character = text.unicodeScalars.first, text.unicodeScalars.count == 1,
            let keysym = keysym(of: character)
        {
            return keysym
        }
        throw Unknown(name: name, question: NearestWord.question(for: name, among: all.keys.sorted()))
    }

    /// All names, sorted, for error messages and documentation.
    package static var names: [String] { all.keys.sorted() }

    private static let all: [String: UInt32] = {
        var all = named
        for number in UInt32(1)...24 { all["f\(number)"] = 0xFFBD &+ number }
        for digit in UInt32(0)...9 { all["kp\(digit)"] = 0xFFB0 &+ digit }
        return all
    }()

    private static let named: [String: UInt32] = [
        // Modifiers.
        "shift": 0xFFE1, "rightshift": 0xFFE2, "ctrl": 0xFFE3, "control": 0xFFE3, "rightctrl": 0xFFE4,
        "alt": 0xFFE9, "rightalt": 0xFFEA, "altgr": 0xFE03, "super": 0xFFEB, "meta": 0xFFEB, "win": 0xFFEB,
        "cmd": 0xFFEB, "rightsuper": 0xFFEC, "capslock": 0xFFE5, "numlock": 0xFF7F, "scrolllock": 0xFF14,
        // Editing.
        "backspace": 0xFF08, "tab": 0xFF09, "enter": 0xFF0D, "return": 0xFF0D, "escape": 0xFF1B, "esc": 0xFF1B,
        "space": 0x20, "plus": 0x2B, "minus": 0x2D, "delete": 0xFFFF, "del": 0xFFFF, "insert": 0xFF63, "ins": 0xFF63,
        // Moving.
        "home": 0xFF50, "end": 0xFF57, "pageup": 0xFF55, "pgup": 0xFF55, "pagedown": 0xFF56, "pgdn": 0xFF56,
        "left": 0xFF51, "up": 0xFF52, "right": 0xFF53, "down": 0xFF54,
        "arrowleft": 0xFF51, "arrowup": 0xFF52, "arrowright": 0xFF53, "arrowdown": 0xFF54,
        // Others.
        "print": 0xFF61, "printscreen": 0xFF61, "pause": 0xFF13, "menu": 0xFF67, "contextmenu": 0xFF67,
        "help": 0xFF6A, "kpenter": 0xFF8D, "kpplus": 0xFFAB, "kpminus": 0xFFAD, "kpmultiply": 0xFFAA,
        "kpdivide": 0xFFAF, "kpdecimal": 0xFFAE,
        // Media keys.
        "mute": 0x1008_FF12, "volumedown": 0x1008_FF11, "volumeup": 0x1008_FF13, "play": 0x1008_FF14,
        "stop": 0x1008_FF15, "previous": 0x1008_FF16, "next": 0x1008_FF17, "brightnessup": 0x1008_FF02,
        "brightnessdown": 0x1008_FF03, "back": 0x1008_FF26, "forward": 0x1008_FF27, "homepage": 0x1008_FF18,
        "search": 0x1008_FF1B,
    ]

    /// The keys of WebDriver's codes, without digits and function keys. Return and Enter are the same key, because some
    /// programs ignore the keypad's Enter.
    private static let webDriver: [UInt32: UInt32] = [
        0xE001: 0xFF69, 0xE002: 0xFF6A, 0xE003: 0xFF08, 0xE004: 0xFF09, 0xE005: 0xFF0B, 0xE006: 0xFF0D,
        0xE007: 0xFF0D, 0xE008: 0xFFE1, 0xE009: 0xFFE3, 0xE00A: 0xFFE9, 0xE00B: 0xFF13, 0xE00C: 0xFF1B,
        0xE00D: 0x20, 0xE00E: 0xFF55, 0xE00F: 0xFF56, 0xE010: 0xFF57, 0xE011: 0xFF50, 0xE012: 0xFF51,
        0xE013: 0xFF52, 0xE014: 0xFF53, 0xE015: 0xFF54, 0xE016: 0xFF63, 0xE017: 0xFFFF, 0xE018: 0x3B,
        0xE019: 0x3D, 0xE024: 0xFFAA, 0xE025: 0xFFAB, 0xE026: 0xFFAC, 0xE027: 0xFFAD, 0xE028: 0xFFAE,
        0xE029: 0xFFAF, 0xE03D: 0xFFEB, 0xE040: 0xFF2A, 0xE050: 0xFFE2, 0xE051: 0xFFE4, 0xE052: 0xFFEA,
        0xE053: 0xFFEC, 0xE054: 0xFF9A, 0xE055: 0xFF9B, 0xE056: 0xFF9C, 0xE057: 0xFF95, 0xE058: 0xFF96,
        0xE059: 0xFF97, 0xE05A: 0xFF98, 0xE05B: 0xFF99, 0xE05C: 0xFF9E, 0xE05D: 0xFF9F,
    ]
}
