/// A desktop's keyboard layout: which keysyms each keycode has. A value.
///
/// Keysyms have their canonical form, ``Keysym/canonical(_:)``. They are in columns, as X servers list them: levels
/// 1 and 2 of the first group, the same of the second group, then levels 3 and 4 of the first group and of the second.
package struct KeyboardLayout: Sendable, Equatable {
    /// A way to make a keysym.
    package struct Key: Sendable, Equatable {
        package var keycode: UInt8
        /// 0 to 3. Bit 0 needs Shift, bit 1 needs level 3 shift.
        package var level: Int

        package init(keycode: UInt8, level: Int) {
            (self.keycode, self.level) = (keycode, level)
        }
    }

    package static let shift: UInt32 = 0xFFE1
    package static let levelThreeShift: UInt32 = 0xFE03

    /// The lowest keycode.
    private let first: UInt8
    /// Keysyms per keycode.
    private let columns: Int
    private var keysyms: [UInt32]

    package init(first: UInt8, columns: Int, keysyms: [UInt32]) {
        (self.first, self.columns) = (first, columns)
        self.keysyms = keysyms.map { Keysym.canonical($0) ?? 0 }
    }

    package var keycodes: ClosedRange<UInt8> {
        let count = columns > 0 ? keysyms.count / columns : 0
        return first...UInt8(clamping: Int(first) + max(count, 1) - 1)
    }

    /// Returns the keysyms of a keycode, a column each.
    package func columns(of keycode: UInt8) -> ArraySlice<UInt32> {
        let start = (Int(keycode) - Int(first)) * columns
        guard columns > 0, start >= 0, start + columns <= keysyms.count else { return [] }
        return keysyms[start..<start + columns]
    }

    /// Returns the key that makes `keysym` with the fewest modifiers while `group` (0 or 1) is in use.
    package func key(for keysym: UInt32, group: Int) -> Key? {
        let group = group == 1 ? 1 : 0
        for level in 0...3 {
            if level >= 2, keycode(of: Self.levelThreeShift) == nil { return nil }
            let column = group * 2 + (level < 2 ? level : level + 2)
            if let keycode = keycode(of: keysym, column: column) { return Key(keycode: keycode, level: level) }
        }
        return nil
    }

    /// Returns the lowest keycode that makes `keysym` without a modifier.
    package func keycode(of keysym: UInt32) -> UInt8? { keycode(of: keysym, column: 0) }

    /// Returns the keycodes that have `keysym` in any column, each with whether a modifier may be needed.
    package func keycodes(with keysym: UInt32) -> [(keycode: UInt8, needsModifier: Bool)] {
        keycodes.compactMap { keycode in
            let columns = columns(of: keycode)
            return columns.contains(keysym) ? (keycode, columns.first != keysym) : nil
        }
    }

    /// The keycodes that the layout does not use, in ascending order.
    package var spares: [UInt8] { keycodes.filter { isSpare(columns(of: $0)) } }

    /// Returns the same layout without the keysyms of some keycodes.
    package func without(_ keycodes: some Sequence<UInt8>) -> KeyboardLayout {
        var layout = self
        for keycode in keycodes {
            let columns = columns(of: keycode)
            layout.keysyms.replaceSubrange(columns.indices, with: columns.map { _ in 0 })
        }
        return layout
    }

    /// The columns of a spare keycode that makes `keysym` in both groups, with and without Shift. With fewer columns,
    /// the server would add the other case of a letter.
    package static func spareColumns(_ keysym: UInt32) -> [UInt32] { Array(repeating: keysym, count: 4) }

    /// A keycode is spare without a keysym, or with those that an agent left that was killed.
    private func isSpare(_ columns: ArraySlice<UInt32>) -> Bool {
        let used = columns.prefix { $0 != 0 }
        guard let keysym = used.first else { return !columns.isEmpty && columns.allSatisfy { $0 == 0 } }
        let isCharacter = keysym < 0xFD00 || keysym >= 0x0100_0000
        return isCharacter && Array(used) == Self.spareColumns(keysym)
            && columns.dropFirst(used.count).allSatisfy { $0 == 0 }
    }

    private func keycode(of keysym: UInt32, column: Int) -> UInt8? {
        guard keysym != 0, column < columns else { return nil }
        return keycodes.first { columns(of: $0).dropFirst(column).first == keysym }
    }
}
