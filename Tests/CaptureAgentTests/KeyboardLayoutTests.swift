import CaptureAgent
import Testing

@Suite("Keyboard layouts")
struct KeyboardLayoutTests {
    private static let (shift, levelThree): (UInt32, UInt32) = (0xFFE1, 0xFE03)

    /// Returns a layout from keycode 8 on.
    private static func layout(_ keys: [[UInt32]]) -> KeyboardLayout {
        let columns = 7
        let keysyms = keys.flatMap { $0 + Array(repeating: 0, count: columns - $0.count) }
        return KeyboardLayout(first: 8, columns: columns, keysyms: keysyms)
    }

    private static func key(_ keycode: UInt8, _ level: Int) -> KeyboardLayout.Key {
        KeyboardLayout.Key(keycode: keycode, level: level)
    }

    /// An X server's answer: a, A and, with level 3, ä; Cyrillic f and F in the second group, with their old keysyms.
    private static let german = layout([
        [], [0x61, 0x41, 0x6C6, 0x6E6, 0xE4, 0xC4], [shift, 0, shift], [levelThree, 0, levelThree], [0x41, 0x61],
        [0x1000_436, 0x1000_436, 0x1000_436, 0x1000_436],
    ])

    @Test("a keysym has the key with the fewest modifiers")
    func keys() {
        #expect(Self.german.key(for: 0x61, group: 0) == Self.key(9, 0))
        #expect(Self.german.key(for: 0x41, group: 0) == Self.key(12, 0))
        #expect(Self.german.key(for: 0xE4, group: 0) == Self.key(9, 2))
        #expect(Self.german.key(for: 0xC4, group: 0) == Self.key(9, 3))
        #expect(Self.german.key(for: 0x62, group: 0) == nil)
        #expect(Self.german.key(for: 0, group: 0) == nil)
    }

    @Test("each group has its own keysyms, and old ones are found by their characters")
    func groups() {
        #expect(Self.german.key(for: 0x0100_0444, group: 1) == Self.key(9, 0))
        #expect(Self.german.key(for: 0x0100_0424, group: 1) == Self.key(9, 1))
        #expect(Self.german.key(for: 0x0100_0444, group: 0) == nil)
        #expect(Self.german.key(for: 0x61, group: 1) == nil)
    }

    @Test("levels 3 and 4 need a key that reaches them")
    func levelThree() {
        let layout = Self.layout([[0x61, 0x41, 0x61, 0x41, 0xE4, 0xC4], [Self.shift]])
        #expect(layout.key(for: 0xE4, group: 0) == nil)
    }

    @Test("keycodes are spare without keysyms, and with those that a killed agent left")
    func spares() {
        #expect(Self.german.spares == [8, 13])
        let keypad: [UInt32] = [0xFFAA, 0xFFAA, 0xFFAA, 0xFFAA]
        #expect(Self.layout([keypad, [0x20, 0, 0x20], [0x61, 0x61, 0x61, 0x61, 0x62]]).spares == [])
        #expect(Self.german.without([9, 200]).key(for: 0x61, group: 0) == Self.key(12, 1))
        #expect(KeyboardLayout(first: 8, columns: 0, keysyms: []).spares == [])
    }

    @Test("keysyms of one character are one")
    func canonical() {
        #expect(Keysym.canonical(0x6C1) == 0x0100_0430)
        #expect(Keysym.canonical(0x0100_00E4) == 0xE4)
        #expect(Keysym.canonical(0x20AC) == 0x0100_20AC)
        for keysym: UInt32 in [0x61, 0xFF0D, 0xFFE1, 0xFE03, 0xFE52, 0xFFB1, 0x1008_FF17, 0x1FFF_FFFF] {
            #expect(Keysym.canonical(keysym) == keysym)
        }
    }

    @Test("keysyms have names for people")
    func names() {
        #expect(Keysym.name(0x0100_0436) == "'ж' (U+0436)")
        #expect(Keysym.name(0x6C1) == "'а' (U+0430)")
        #expect(Keysym.name(0x1F600 | 0x0100_0000) == "'😀' (U+1F600)")
        #expect(Keysym.name(0xFF0D) == "the key Return")
        #expect(Keysym.name(0x1008_FF17) == "the key XF86AudioNext")
    }
}

@Suite("Spare keycodes")
struct X11SpareKeysTests {
    private static let a: UInt32 = 0x0100_4E00

    private static func spares(_ count: Int) -> X11SpareKeys {
        X11SpareKeys(layout(Array(repeating: 0, count: count)))
    }

    /// Returns a layout from keycode 8 on, whose keys have one keysym each, as a spare one has it.
    private static func layout(_ keysyms: [UInt32]) -> KeyboardLayout {
        KeyboardLayout(first: 8, columns: 4, keysyms: keysyms.flatMap(KeyboardLayout.spareColumns))
    }

    @Test("a stretch uses at most half of them, and none that the former one uses")
    func stretches() throws {
        var spares = Self.spares(9)
        let text: [UInt32?] = (0..<40).map { Self.a + UInt32($0 * 7 % 13) }
        var place = 0
        var before: Set<UInt8> = []
        while place < text.count {
            let next = spares.stretch(text[place...])
            let stretch = try #require(next)
            let used = Set(text[place..<place + stretch.count].compactMap { $0.flatMap(spares.keycode(of:)) })
            #expect(used.count <= 4)
            #expect(before.isDisjoint(with: stretch.changes.keys))
            for (keycode, keysym) in stretch.changes { #expect(spares.keycode(of: keysym) == keycode) }
            (before, place) = (used, place + stretch.count)
        }
        #expect(place == text.count)
    }

    @Test("text of the layout is one stretch")
    func plain() {
        var spares = Self.spares(2)
        let stretch = spares.stretch([nil, Self.a, nil, Self.a, nil, Self.a + 1])
        #expect(stretch?.count == 5)
        #expect(stretch?.changes == [8: Self.a])
        #expect(spares.stretch([nil, nil])?.changes == [:])
    }

    @Test("held ones keep their keysyms; without any, there is no stretch")
    func held() throws {
        var spares = Self.spares(2)
        let assigned = spares.assign(Self.a)
        let first = try #require(assigned)
        spares.setHeld(first.keycode, true)
        for offset in UInt32(1)...5 { #expect(spares.assign(Self.a + offset)?.keycode != first.keycode) }
        #expect(spares.assign(Self.a)?.changes == false)
        spares.setHeld(9, true)
        #expect(spares.stretch([Self.a + 9]) == nil)
        #expect(spares.stretch([nil, Self.a + 9])?.count == 1)
        var none = Self.spares(0)
        #expect(none.assign(Self.a) == nil)
    }

    @Test("another layout takes keycodes and assignments away, and brings others")
    func follows() {
        var spares = Self.spares(3)
        _ = spares.assign(Self.a)
        _ = spares.assign(Self.a + 1)
        // Keycode 8 is used now, 9 is as it was, 10 is free still, and so is 11.
        let keysyms: [[UInt32]] = [[0x62, 0x42, 0x62, 0x42], Array(repeating: Self.a + 1, count: 4), [0, 0, 0, 0]]
        spares.follow(KeyboardLayout(first: 8, columns: 4, keysyms: (keysyms + [[0, 0, 0, 0]]).flatMap { $0 }))
        #expect(spares.assigned == [9: Self.a + 1])
        #expect(Set(spares.keycodes) == [9, 10, 11])
        #expect(spares.keycode(of: Self.a) == nil)
    }
}

@Suite("A desktop's keymap")
struct DesktopKeymapTests {
    private static func keymap(_ symbols: String) throws -> DesktopKeymap {
        let text = """
            xkb_keymap {
            xkb_keycodes "x" { <A> = 38; <SH> = 50; <L3> = 92; <X> = 200; };
            xkb_types "x" {
                virtual_modifiers LevelThree;
                type "ONE_LEVEL" { modifiers = none; level_name[Level1] = "Any"; };
                type "TWO_LEVEL" { modifiers = Shift; map[Shift] = Level2; };
                type "ALPHABETIC" { modifiers = Shift; map[Shift] = Level2; };
                type "FOUR_LEVEL" {
                    modifiers = Shift+LevelThree;
                    map[Shift] = Level2; map[LevelThree] = Level3; map[Shift+LevelThree] = Level4;
                };
            };
            xkb_compatibility "x" { };
            xkb_symbols "x" {
                key <SH> { [ Shift_L ] };
                key <L3> { [ ISO_Level3_Shift ] };
                \(symbols)
            };
            };
            """
        return try #require(DesktopKeymap(Array(text.utf8)))
    }

    @Test("keys are found by character, with their level")
    func keys() throws {
        let keymap = try Self.keymap(
            #"key <A> { type = "FOUR_LEVEL", [ Cyrillic_a, Cyrillic_A, EuroSign, U4E00 ] };"#
        )
        #expect(keymap.groups == 1)
        #expect(keymap.key(for: 0x0100_0430) == KeyboardLayout.Key(keycode: 38, level: 0))
        #expect(keymap.key(for: 0x6E1) == KeyboardLayout.Key(keycode: 38, level: 1))
        #expect(keymap.key(for: 0x0100_20AC) == KeyboardLayout.Key(keycode: 38, level: 2))
        #expect(keymap.key(for: 0x0100_4E00) == KeyboardLayout.Key(keycode: 38, level: 3))
        #expect(keymap.key(for: 0x61) == nil)
        #expect(keymap.original(of: 0x0100_0430) == 0x6C1)
        #expect(keymap.original(of: 0x61) == 0x61)
    }

    @Test("a character may be in either of two layouts")
    func groups() throws {
        let keymap = try Self.keymap("key <A> { [ a, A ], [ Cyrillic_ef, Cyrillic_EF ] };")
        #expect(keymap.groups == 2)
        #expect(keymap.key(for: 0x41) == KeyboardLayout.Key(keycode: 38, level: 1))
        #expect(keymap.key(for: 0x0100_0444) == KeyboardLayout.Key(keycode: 38, level: 0))
    }

    @Test("other text is refused")
    func wrong() {
        for text in ["", "xkb_keymap {", "\u{0}", String(repeating: "{", count: 10_000)] {
            #expect(DesktopKeymap(Array(text.utf8)) == nil)
        }
    }
}
