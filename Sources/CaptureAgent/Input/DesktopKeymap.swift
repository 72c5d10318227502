import CXKBCommon

/// A desktop's keyboard layout, from a keymap of XKB. A value.
package struct DesktopKeymap: Sendable, Equatable {
    package let layout: KeyboardLayout
    /// How many layouts the keymap has. A person switches between them, and desktops do not tell which is in use.
    package let groups: Int
    /// The layout's own keysyms by their canonical forms, if they differ.
    private let originals: [UInt32: UInt32]

    /// - Parameter text: The keymap in XKB's text format.
    /// - Returns: `nil` if it is not a keymap.
    package init?(_ text: [UInt8]) {
        guard let context = xkb_context_new(XKB_CONTEXT_NO_DEFAULT_INCLUDES) else { return nil }
        defer { xkb_context_unref(context) }
        // What is wrong with a keymap is not for the agent's standard error.
        xkb_context_set_log_level(context, XKB_LOG_LEVEL_CRITICAL)
        let keymap = text.withUnsafeBytes {
            xkb_keymap_new_from_buffer(
                context,
                $0.baseAddress?.assumingMemoryBound(to: CChar.self),
                $0.count,
                XKB_KEYMAP_FORMAT_TEXT_V1,
                XKB_KEYMAP_COMPILE_NO_FLAGS
            )
        }
        guard let keymap else { return nil }
        defer { xkb_keymap_unref(keymap) }
        self.init(keymap)
    }

    /// The layout that XKB_DEFAULT_LAYOUT and its like name, or an American one.
    ///
    /// - Returns: `nil` if the machine does not have it.
    package static func ofEnvironment() -> DesktopKeymap? {
        guard let context = xkb_context_new(XKB_CONTEXT_NO_FLAGS) else { return nil }
        defer { xkb_context_unref(context) }
        xkb_context_set_log_level(context, XKB_LOG_LEVEL_CRITICAL)
        guard let keymap = xkb_keymap_new_from_names(context, nil, XKB_KEYMAP_COMPILE_NO_FLAGS) else { return nil }
        defer { xkb_keymap_unref(keymap) }
        return DesktopKeymap(keymap)
    }

    private init(_ keymap: OpaquePointer) {
        // Keycodes of X, the kernel's plus 8.
        let keycodes = UInt32(8)...255
        var keysyms: [UInt32] = []
        var originals: [UInt32: UInt32] = [:]
        for keycode in keycodes {
            for (group, level) in [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (0, 3), (1, 2), (1, 3)] {
                let keysym = Self.keysym(keymap, keycode, group: UInt32(group), level: UInt32(level))
                keysyms.append(keysym)
                guard let canonical = Keysym.canonical(keysym), canonical != keysym else { continue }
                if originals[canonical] == nil { originals[canonical] = keysym }
            }
        }
        layout = KeyboardLayout(first: 8, columns: 8, keysyms: keysyms)
        groups = Int(xkb_keymap_num_layouts(keymap))
        self.originals = originals
    }

    /// Returns the key that makes a keysym, in the first layout that has it.
    package func key(for keysym: UInt32) -> KeyboardLayout.Key? {
        guard let keysym = Keysym.canonical(keysym) else { return nil }
        return layout.key(for: keysym, group: 0) ?? (groups > 1 ? layout.key(for: keysym, group: 1) : nil)
    }

    /// Returns how the desktop makes a keysym; `nil` if it cannot.
    package func way(to keysym: UInt32) -> DesktopKey? {
        guard let key = key(for: keysym) else { return nil }
        // With several layouts, only the desktop knows which one is in use, and finds the key by the keysym.
        guard groups == 1 else { return .keysym(original(of: keysym)) }
        // By keycodes, because Mutter forgets to release modifiers that it pressed for a keysym if the agent is killed.
        return .codes(codes(of: key))
    }

    /// Returns the kernel's codes of the keys that make a keysym in the first layout; `nil` if it lacks the keysym.
    package func codes(for keysym: UInt32) -> [UInt32]? {
        Keysym.canonical(keysym).flatMap { layout.key(for: $0, group: 0) }.map { codes(of: $0) }
    }

    private func codes(of key: KeyboardLayout.Key) -> [UInt32] {
        let modifiers = [(1, KeyboardLayout.shift), (2, KeyboardLayout.levelThreeShift)]
            .filter { key.level & $0.0 != 0 }
            .compactMap { layout.keycode(of: $0.1) }
        // X's keycodes are the kernel's plus 8.
        return (modifiers + [key.keycode]).map { UInt32(max($0, 8) - 8) }
    }

    /// Returns the keysym by which Mutter finds the key of `keysym`: it compares numbers, not characters.
    package func original(of keysym: UInt32) -> UInt32 {
        guard let canonical = Keysym.canonical(keysym) else { return keysym }
        return originals[canonical] ?? canonical
    }

    private static func keysym(_ keymap: OpaquePointer, _ keycode: UInt32, group: UInt32, level: UInt32) -> UInt32 {
        guard group < xkb_keymap_num_layouts_for_key(keymap, keycode) else { return 0 }
        var keysyms: UnsafePointer<xkb_keysym_t>?
        let count = xkb_keymap_key_get_syms_by_level(keymap, keycode, group, level, &keysyms)
        return count == 1 ? keysyms?.pointee ?? 0 : 0
    }
}
