/// The spare keycodes of an X server and the keysyms that they have for now. A value.
///
/// A program looks a keycode up when it handles the key, perhaps long after the key was typed. So a keycode changes its
/// keysym as late as possible: the one whose use is the longest ago changes first, and a stretch of text uses at most
/// half of them.
package struct X11SpareKeys: Sendable, Equatable {
    /// A part of a text that is typed without a change of keycodes.
    package struct Stretch: Sendable, Equatable {
        /// How many keysyms of the text it has.
        package var count: Int
        /// The keycodes that change before it, with their new keysyms.
        package var changes: [UInt8: UInt32]
    }

    /// The keycodes, the one whose use is the longest ago first.
    private var order: [UInt8]
    package private(set) var assigned: [UInt8: UInt32] = [:]
    /// Those that are held down, which keep their keysyms.
    package private(set) var held: Set<UInt8> = []

    package init(_ layout: KeyboardLayout) {
        order = layout.spares
    }

    package var keycodes: [UInt8] { order }

    package func keycode(of keysym: UInt32) -> UInt8? {
        order.last { assigned[$0] == keysym }
    }

    /// Follows a change of the layout, which may use other keycodes or may have undone assignments.
    package mutating func follow(_ layout: KeyboardLayout) {
        assigned = assigned.filter { layout.columns(of: $0.key).first == $0.value }
        let spares = Set(layout.spares).union(assigned.keys)
        order = layout.spares.filter { !order.contains($0) } + order.filter { spares.contains($0) }
        held.formIntersection(order)
    }

    package mutating func setHeld(_ keycode: UInt8, _ isHeld: Bool) {
        guard order.contains(keycode) else { return }
        if isHeld { held.insert(keycode) } else { held.remove(keycode) }
    }

    /// Finds a keycode for a keysym.
    ///
    /// - Returns: The keycode, and whether it changes; `nil` if none is left.
    package mutating func assign(_ keysym: UInt32) -> (keycode: UInt8, changes: Bool)? {
        if let keycode = keycode(of: keysym) {
            use(keycode)
            return (keycode, false)
        }
        guard let keycode = order.first(where: { !held.contains($0) }) else { return nil }
        assigned[keycode] = keysym
        use(keycode)
        return (keycode, true)
    }

    /// Prepares the longest possible beginning of a text.
    ///
    /// - Parameter keysyms: The text; `nil` for a keysym that needs no spare keycode.
    /// - Returns: `nil` if there is no keycode for the first keysym.
    package mutating func stretch(_ keysyms: some Sequence<UInt32?>) -> Stretch? {
        let most = max(1, (order.count - held.count) / 2)
        var stretch = Stretch(count: 0, changes: [:])
        var distinct: Set<UInt32> = []
        for keysym in keysyms {
            if let keysym, !distinct.contains(keysym) {
                guard distinct.count < most, let (keycode, changes) = assign(keysym) else { break }
                distinct.insert(keysym)
                if changes { stretch.changes[keycode] = keysym }
            }
            stretch.count += 1
        }
        return stretch.count > 0 ? stretch : nil
    }

    private mutating func use(_ keycode: UInt8) {
        order.removeAll { $0 == keycode }
        order.append(keycode)
    }
}
