import CXCB
import Wire

/// Releases what another process holds, through XTEST.
enum X11Release {
    static func run(_ items: [HeldInput.Item]) throws(SourceError) {
        let connection = try X11Connection.forInput()
        defer { connection.close() }
        let keyboard = try connection.keyboard()
        // The server ignores the release of a key that XTEST does not hold, so too many releases do no harm.
        for item in items.reversed() {
            switch item {
            case .button(let code):
                if let button = try? X11Input.button(code) { connection.fake(XCB_BUTTON_RELEASE, button) }
            case .key(let keysym):
                let keys = Keysym.canonical(keysym).map(keyboard.keycodes(with:)) ?? []
                for key in keys { connection.fake(XCB_KEY_RELEASE, key.keycode) }
                guard keys.contains(where: \.needsModifier) else { continue }
                for modifier in [KeyboardLayout.levelThreeShift, KeyboardLayout.shift] {
                    for key in keyboard.keycodes(with: modifier) { connection.fake(XCB_KEY_RELEASE, key.keycode) }
                }
            case .touch:
                break
            }
        }
        try connection.finish()
    }
}
