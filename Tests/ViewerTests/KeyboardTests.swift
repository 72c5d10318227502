import Testing
import Viewer

@Suite("Keys of the window")
struct KeyboardTests {
    private typealias Key = KeyboardState.Key

    @Test("a key that makes a character is sent as the character of its text, and released as such")
    func characters() {
        var state = KeyboardState()
        let shift = Key(scancode: 225, name: "Left Shift", character: nil)
        #expect(state.down(shift) == [.key(0xFFE1, isDown: true)])
        #expect(state.down(Key(scancode: 4, name: "A", character: "a", hasShift: true)) == [])
        #expect(state.text("A") == [.key(0x41, isDown: true)])
        #expect(state.up(scancode: 225) == [.key(0xFFE1, isDown: false)])
        #expect(state.up(scancode: 4) == [.key(0x41, isDown: false)])
        #expect(state.up(scancode: 4) == [])
    }

    @Test("the desktop repeats keys that are held, so repeats are not sent")
    func repeats() {
        var state = KeyboardState()
        _ = state.down(Key(scancode: 4, name: "A", character: "a"))
        _ = state.text("a")
        #expect(state.down(Key(scancode: 4, name: "A", character: "a", isRepeat: true)) == [])
        #expect(state.text("a") == [])
        #expect(state.down(Key(scancode: 42, name: "Backspace", character: nil)) == [.key(0xFF08, isDown: true)])
        #expect(state.down(Key(scancode: 42, name: "Backspace", character: nil, isRepeat: true)) == [])
    }

    @Test("with Ctrl there is no text, so the key's own character is sent")
    func commands() {
        var state = KeyboardState()
        let c = state.down(Key(scancode: 6, name: "C", character: "c", isCommand: true))
        #expect(c == [.key(0x63, isDown: true)])
        let t = state.down(Key(scancode: 23, name: "T", character: "t", hasShift: true, isCommand: true))
        #expect(t == [.key(0x54, isDown: true)])
    }

    @Test("text of an input method, and of dead keys, is typed")
    func texts() {
        var state = KeyboardState()
        #expect(state.text("日本") == [.text("日本")])
        #expect(state.down(Key(scancode: 52, name: "´", character: "´")) == [])
        // A dead key makes no text. The next key makes that of both.
        #expect(state.down(Key(scancode: 8, name: "E", character: "e")) == [])
        #expect(state.text("é") == [.key(0xE9, isDown: true)])
        #expect(state.text("€") == [.text("€")])
    }

    @Test("a key of the number pad is sent once, although it makes its text, too")
    func numberPad() {
        var state = KeyboardState()
        let seven = Key(scancode: 95, name: "Keypad 7", character: nil)
        #expect(state.down(seven) == [.key(0xFFB7, isDown: true)] && state.text("7") == [])
        #expect(state.up(scancode: 95) == [.key(0xFFB7, isDown: false)])
    }

    @Test("text that comes after a key went up is typed, and no key stays down")
    func late() {
        var state = KeyboardState()
        #expect(state.down(Key(scancode: 4, name: "A", character: "a")) == [])
        #expect(state.up(scancode: 4) == [] && state.text("あ") == [.text("あ")])
    }

    @Test("keys of many names have their keysyms, and locks have none")
    func names() {
        #expect(Keysyms.named("F12") == 0xFFC9 && Keysyms.named("Keypad Enter") == 0xFF8D)
        #expect(Keysyms.named("Left") == 0xFF51 && Keysyms.named("CapsLock") == nil && Keysyms.named("F") == nil)
        #expect(Keysyms.named("Right Alt") == nil && Keysyms.named("Keypad 7") == 0xFFB7)
    }

    @Test("each shortcut has a key of its own, and the help names all of them")
    func shortcuts() {
        let keys = Shortcut.allCases.map(\.key)
        #expect(Set(keys).count == keys.count)
        for shortcut in Shortcut.allCases {
            #expect(Shortcut(key: shortcut.key) == shortcut && Shortcut.helpText.contains(shortcut.text))
        }
        #expect(Shortcut(key: "X") == nil)
    }
}
