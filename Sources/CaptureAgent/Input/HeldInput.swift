package import Wire

/// What is held down on a desktop: buttons, keys and fingers.
package struct HeldInput: Sendable, Equatable {
    package enum Item: Sendable, Hashable {
        /// A mouse button by its Linux code.
        case button(UInt16)
        /// A key by its X keysym.
        case key(UInt32)
        /// A finger by its id.
        case touch(UInt8)

        /// The step that releases the item. A finger is taken away without a tap.
        package var release: InputStep {
            switch self {
            case .button(let code): .button(code, isDown: false)
            case .key(let keysym): .key(keysym: keysym, isDown: false)
            case .touch(let id): .touch(id: id, phase: .cancel, x: 0, y: 0)
            }
        }
    }

    /// The held items, each once, in the order in which they were pressed.
    package private(set) var items: [Item] = []

    package init() {}

    package var isEmpty: Bool { items.isEmpty }

    /// The steps that release everything, the last item first.
    package var releases: [InputStep] { items.reversed().map(\.release) }

    /// Records that a step was done.
    package mutating func follow(_ step: InputStep) {
        switch step {
        case .button(let code, let isDown): set(.button(code), isHeld: isDown)
        case .key(let keysym, let isDown): set(.key(keysym), isHeld: isDown)
        case .touch(let id, .down, _, _): set(.touch(id), isHeld: true)
        case .touch(let id, .up, _, _), .touch(let id, .cancel, _, _): set(.touch(id), isHeld: false)
        case .releaseAll: items = []
        case .touch, .pointer, .pointerBy, .scroll, .text, .pause, .resize: break
        }
    }

    private mutating func set(_ item: Item, isHeld: Bool) {
        if !isHeld {
            items.removeAll { $0 == item }
        } else if !items.contains(item) {
            items.append(item)
        }
    }
}
