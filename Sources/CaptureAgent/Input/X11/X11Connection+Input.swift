import CXCB
import Glibc

/// What input needs of an X server: XTEST and the keyboard.
extension X11Connection {
    /// Connects to the X server of DISPLAY for input.
    static func forInput() throws(SourceError) -> X11Connection {
        let connection = try X11Connection()
        do throws(SourceError) {
            guard try connection.has("XTEST") else {
                throw .unavailable(
                    cause: "x11_no_xtest",
                    detail: "The X server has no XTEST extension. Start it without '-tst' or '-extension XTEST'."
                )
            }
            // Otherwise a program that grabs the server, such as one with an open menu, would hold events back.
            xcb_test_grab_control(connection.handle, 1)
            return connection
        } catch {
            connection.close()
            throw error
        }
    }

    /// Adds a key or button to what is sent next.
    ///
    /// - Parameter type: `XCB_KEY_PRESS` and its neighbours.
    func fake(_ type: Int32, _ detail: UInt8, x: Int16 = 0, y: Int16 = 0) {
        xcb_test_fake_input(handle, UInt8(truncatingIfNeeded: type), detail, 0, root, x, y, 0)
    }

    /// Waits until the server has taken everything.
    func finish() throws(SourceError) {
        let request = xcb_get_input_focus(handle)
        let _: X11Answer<xcb_get_input_focus_reply_t>? = try answer(to: request.sequence, stop: nil)
    }

    func keyboard() throws(SourceError) -> KeyboardLayout {
        guard let setup = xcb_get_setup(handle) else { return KeyboardLayout(first: 8, columns: 0, keysyms: []) }
        let (first, last) = (setup.pointee.min_keycode, setup.pointee.max_keycode)
        let count = UInt8(clamping: Int(last) - Int(first) + 1)
        let request = xcb_get_keyboard_mapping(handle, first, count)
        let answer: X11Answer<xcb_get_keyboard_mapping_reply_t>? = try answer(to: request.sequence, stop: nil)
        guard let answer else { return KeyboardLayout(first: first, columns: 0, keysyms: []) }
        return withExtendedLifetime(answer) {
            let keysyms = UnsafeBufferPointer(
                start: xcb_get_keyboard_mapping_keysyms(answer.pointer),
                count: Int(xcb_get_keyboard_mapping_keysyms_length(answer.pointer))
            )
            return KeyboardLayout(
                first: first,
                columns: Int(answer.pointee.keysyms_per_keycode),
                keysyms: Array(keysyms)
            )
        }
    }

    /// Returns the modifiers that are down and the keyboard's group, as in the `state` of a key event.
    func keyboardState() throws(SourceError) -> (modifiers: UInt16, group: Int) {
        let request = xcb_query_pointer(handle, root)
        let answer: X11Answer<xcb_query_pointer_reply_t>? = try answer(to: request.sequence, stop: nil)
        let mask = answer?.pointee.mask ?? 0
        return (mask & 0xFF, Int(mask >> 13) & 3)
    }

    /// Gives keycodes new keysyms, each the same in every column; 0 for none.
    func change(_ keycodes: [UInt8: UInt32]) {
        // Runs of keycodes in one request each, because every program reads the keyboard again after each request.
        var run: (first: UInt8, columns: [UInt32])?
        var next: UInt8?
        for (keycode, keysym) in keycodes.sorted(by: { $0.key < $1.key }) {
            if keycode != next {
                if let run { send(run.first, run.columns) }
                run = (keycode, [])
            }
            run?.columns += KeyboardLayout.spareColumns(keysym)
            next = keycode == .max ? nil : keycode + 1
        }
        if let run { send(run.first, run.columns) }
    }

    private func send(_ first: UInt8, _ columns: [UInt32]) {
        let width = KeyboardLayout.spareColumns(0).count
        xcb_change_keyboard_mapping(
            handle,
            UInt8(clamping: columns.count / width),
            first,
            UInt8(clamping: width),
            columns
        )
    }
}
