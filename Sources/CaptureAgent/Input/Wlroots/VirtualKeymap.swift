/// A keymap of our own: an American keyboard, and spare keys for every other keysym that is needed.
///
/// Key codes are those of Linux (linux/input-event-codes.h), which are the keymap's keycodes minus 8.
package struct VirtualKeymap: Sendable {
    /// A way to type a keysym.
    package struct Stroke: Sendable, Equatable {
        package let code: UInt32
        /// Whether Shift must be down.
        package let needsShift: Bool

        package init(code: UInt32, needsShift: Bool) {
            (self.code, self.needsShift) = (code, needsShift)
        }
    }

    /// Modifiers by their bit in `zwp_virtual_keyboard_v1.modifiers`, which is that of XKB's real modifiers.
    enum Modifier: UInt32, CaseIterable {
        case shift = 1
        case lock = 2
        case control = 4
        case mod1 = 8
        case mod2 = 16
        case mod4 = 64
        case mod5 = 128

        fileprivate var name: String {
            switch self {
            case .shift: "Shift"
            case .lock: "Lock"
            case .control: "Control"
            case .mod1: "Mod1"
            case .mod2: "Mod2"
            case .mod4: "Mod4"
            case .mod5: "Mod5"
            }
        }

        /// Whether a press turns the modifier on or off instead of holding it.
        var isLocking: Bool { self == .lock || self == .mod2 }
    }

    /// Added to a Linux code to make an XKB keycode.
    private static let offset: UInt32 = 8
    private static let largestCode: UInt32 = 247

    /// The key with which ``Stroke/needsShift`` is done.
    static let shiftCode: UInt32 = 42

    /// The modifier of a key.
    static let modifiers: [UInt32: Modifier] = [
        42: .shift, 54: .shift, 58: .lock, 29: .control, 97: .control, 56: .mod1, 100: .mod1, 205: .mod1, 69: .mod2,
        125: .mod4, 126: .mod4, 207: .mod4, 84: .mod5,
    ]

    /// The keysyms of the fixed keys without and with Shift; 0 for none.
    private static let fixed: [UInt32: (UInt32, UInt32)] = {
        var keys: [UInt32: (UInt32, UInt32)] = [:]
        func add(_ first: UInt32, _ plain: String, _ shifted: String) {
            for (index, pair) in zip(plain.unicodeScalars, shifted.unicodeScalars).enumerated() {
                keys[first + UInt32(index)] = (pair.0.value, pair.1.value)
            }
        }
        add(2, "1234567890-=", "!@#$%^&*()_+")
        add(16, "qwertyuiop[]", "QWERTYUIOP{}")
        add(30, "asdfghjkl;'`", "ASDFGHJKL:\"~")
        add(43, "\\zxcvbnm,./", "|ZXCVBNM<>?")
        keys[15] = (Keysym.tab, 0xFE20)  // ISO_Left_Tab
        for (code, keysym) in others { keys[code] = (keysym, 0) }
        for index: UInt32 in 0..<10 { keys[59 + index] = (0xFFBE + index, 0) }  // F1
        for index: UInt32 in 0..<12 { keys[183 + index] = (0xFFCA + index, 0) }  // F13
        return keys
    }()

    /// Keys that are the same with Shift, by their names in X11 keysymdef.h.
    private static let others: [(code: UInt32, keysym: UInt32)] = [
        (1, 0xFF1B),  // Escape
        (14, 0xFF08),  // BackSpace
        (28, Keysym.returnKey),
        (29, 0xFFE3),  // Control_L
        (42, 0xFFE1),  // Shift_L
        (54, 0xFFE2),  // Shift_R
        (55, 0xFFAA),  // KP_Multiply
        (56, 0xFFE9),  // Alt_L
        (57, 0x20),  // space
        (58, 0xFFE5),  // Caps_Lock
        (69, 0xFF7F),  // Num_Lock
        (70, 0xFF14),  // Scroll_Lock
        (71, 0xFFB7), (72, 0xFFB8), (73, 0xFFB9),  // KP_7 to KP_9
        (74, 0xFFAD),  // KP_Subtract
        (75, 0xFFB4), (76, 0xFFB5), (77, 0xFFB6),  // KP_4 to KP_6
        (78, 0xFFAB),  // KP_Add
        (79, 0xFFB1), (80, 0xFFB2), (81, 0xFFB3), (82, 0xFFB0),  // KP_1 to KP_3, KP_0
        (83, 0xFFAE),  // KP_Decimal
        (84, 0xFE03),  // ISO_Level3_Shift
        (87, 0xFFC8), (88, 0xFFC9),  // F11, F12
        (96, 0xFF8D),  // KP_Enter
        (97, 0xFFE4),  // Control_R
        (98, 0xFFAF),  // KP_Divide
        (99, 0xFF61),  // Print
        (100, 0xFFEA),  // Alt_R
        (102, 0xFF50), (103, 0xFF52), (104, 0xFF55),  // Home, Up, Prior
        (105, 0xFF51), (106, 0xFF53),  // Left, Right
        (107, 0xFF57), (108, 0xFF54), (109, 0xFF56),  // End, Down, Next
        (110, 0xFF63), (111, 0xFFFF),  // Insert, Delete
        (113, 0x1008_FF12), (114, 0x1008_FF11), (115, 0x1008_FF13),  // XF86AudioMute, LowerVolume, RaiseVolume
        (117, 0xFFBD),  // KP_Equal
        (119, 0xFF13),  // Pause
        (125, 0xFFEB), (126, 0xFFEC),  // Super_L, Super_R
        (127, 0xFF67),  // Menu
        (205, 0xFFE7), (207, 0xFFED),  // Meta_L, Hyper_L
    ]

    /// How a fixed keysym is typed.
    private static let fixedStrokes: [UInt32: Stroke] = {
        var strokes: [UInt32: Stroke] = [:]
        for (code, (plain, shifted)) in fixed {
            strokes[plain] = Stroke(code: code, needsShift: false)
            if shifted != 0 { strokes[shifted] = Stroke(code: code, needsShift: true) }
        }
        return strokes
    }()

    /// The codes of spare keys.
    package static let spareCodes: [UInt32] = (1...largestCode).filter { fixed[$0] == nil }.sorted(by: >)

    /// The keysyms of spare keys, by their code.
    private var spares: [UInt32: UInt32] = [:]
    private var spareStrokes: [UInt32: Stroke] = [:]

    package init() {}

    /// Returns how the keymap types a keysym, or `nil` if a spare key must be bound to it first.
    ///
    /// - Parameters:
    ///   - keysym: A canonical keysym.
    ///   - isShifted: Whether Shift is held.
    ///   - isExact: Whether the keysym must arrive whatever Shift does to the key.
    package func stroke(_ keysym: UInt32, isShifted: Bool, isExact: Bool) -> Stroke? {
        if let stroke = Self.fixedStrokes[keysym] {
            let isPlain = !stroke.needsShift && (!isShifted || !isExact || (Self.fixed[stroke.code]?.1 ?? 0) == 0)
            if isPlain || stroke.needsShift && (isShifted || isExact) { return stroke }
        }
        return spareStrokes[keysym]
    }

    /// Binds spare keys to keysyms, as many of the first as there is room for.
    ///
    /// - Parameter kept: The codes of spare keys that must not change, because they are held.
    package mutating func bind(_ keysyms: some Sequence<UInt32>, keeping kept: Set<UInt32>) {
        let capacity = Self.spareCodes.count - kept.count
        var wanted: Set<UInt32> = []
        var missing: [UInt32] = []
        for keysym in keysyms where wanted.count < capacity && wanted.insert(keysym).inserted {
            if spareStrokes[keysym] == nil { missing.append(keysym) }
        }
        let free = Self.spareCodes.filter { code in
            !kept.contains(code) && !(spares[code].map(wanted.contains) ?? false)
        }
        // Keys without a keysym come first, so that clients see few changes.
        let order = free.filter { spares[$0] == nil } + free.filter { spares[$0] != nil }
        for (keysym, code) in zip(missing, order) {
            if let former = spares[code] { spareStrokes[former] = nil }
            spares[code] = keysym
            spareStrokes[keysym] = Stroke(code: code, needsShift: false)
        }
    }

    /// The keymap as XKB text.
    package var text: String {
        var keys = Self.fixed
        for (code, keysym) in spares { keys[code] = (keysym, 0) }
        let codes = keys.keys.sorted()
        func name(_ code: UInt32) -> String { "<I\(code + Self.offset)>" }
        func hex(_ keysym: UInt32) -> String { "0x\(String(keysym, radix: 16))" }
        let keycodes = codes.map { "\(name($0)) = \($0 + Self.offset);" }
        let symbols = codes.compactMap { code in
            keys[code].map { plain, shifted in
                "key \(name(code)) {[\(hex(plain))\(shifted == 0 ? "" : ", \(hex(shifted))")]};"
            }
        }
        let modifiers = Modifier.allCases.map { modifier in
            let own = Self.modifiers.filter { $0.value == modifier }.keys.sorted().map(name)
            return "modifier_map \(modifier.name) { \(own.joined(separator: ", ")) };"
        }
        return """
            xkb_keymap {
            xkb_keycodes "heliograph" {
            minimum = \(Self.offset);
            maximum = \(Self.largestCode + Self.offset);
            \(keycodes.joined(separator: "\n"))
            };
            xkb_types "heliograph" { include "complete" };
            xkb_compatibility "heliograph" { include "complete" };
            xkb_symbols "heliograph" {
            \((symbols + modifiers).joined(separator: "\n"))
            };
            };

            """
    }
}
