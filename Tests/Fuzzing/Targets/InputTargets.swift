import HeliographAPI
import NIOCore
import Relay
import Wire

extension FuzzTarget {
    /// A viewer's binary messages, and the orders that become of them. Before each message come the time since the
    /// last one, one byte, in ms, and its length.
    static let input = FuzzTarget(
        "input",
        words: ["\u{8}\u{1}\u{0}\u{0}", "\u{5}\u{0}\u{1}\u{0}", "\u{7}\u{2}", "\u{11}\u{0}\u{0}\u{0}"]
    ) {
        input in
        var choices = Choices(input)
        var now = NIODeadline.uptimeNanoseconds(0)
        var live = LiveInput(now: now)
        var desktop = Desktop()
        while !choices.isEmpty {
            let time = choices.byte()
            now = now + .milliseconds(Int64(time))
            let bytes = choices.piece()
            guard let message = try refusable({ try ViewerInput(parsing: bytes) }) else { continue }
            if case .gamepad(let gamepad) = message {
                let again = try refusable { try ViewerInput(parsing: gamepad.bytes) }
                try require(again == message, "\(message) becomes \(String(describing: again))")
            }
            try desktop.perform(live.take(message, now: now))
            // The agent answers some orders later than others, and refuses some.
            if time & 1 == 0 { try desktop.answer(&live, isDone: time & 2 == 0) }
            try desktop.perform(live.tick(now: now))
        }
        // Control ends. The agent still does what is under way.
        let last = live.drop()
        try desktop.answer(&live, isDone: true)
        try desktop.do(last?.steps ?? [])
        try require(desktop.held.isEmpty, "\(desktop.held) are still held")
    }

    /// A desktop that does what the orders say, and checks them.
    private struct Desktop {
        var held: Set<String> = []
        private var underWay: [LiveOrder] = []

        mutating func perform(_ actions: [LiveInput.Action]) throws {
            for case .send(let order) in actions {
                let whole = InputOrder(
                    id: 1,
                    geometry: order.geometry,
                    takesNearest: order.takesNearest,
                    steps: order.steps
                )
                try require(whole.problem == nil, whole.problem ?? "")
                underWay.append(order)
                try require(underWay.count <= 300, "\(underWay.count) orders are under way")
            }
        }

        /// Answers what is under way, oldest first; orders that come of it as well.
        mutating func answer(_ live: inout LiveInput, isDone: Bool) throws {
            while !underWay.isEmpty {
                let order = underWay.removeFirst()
                // A release is only refused with everything else.
                let isRefused = !isDone && order != .releaseAll
                if !isRefused { try self.do(order.steps) }
                try perform(live.ended(order, isDone: !isRefused))
            }
        }

        mutating func `do`(_ steps: [InputStep]) throws {
            for step in steps {
                switch step {
                case .button(let code, let isDown): set("button \(code)", isDown)
                case .key(let keysym, let isDown): set("key \(keysym)", isDown)
                case .touch(let id, .down, _, _): set("touch \(id)", true)
                case .touch(let id, .up, _, _), .touch(let id, .cancel, _, _): set("touch \(id)", false)
                case .releaseAll: held = []
                case .touch, .pointer, .pointerBy, .scroll, .text, .pause, .resize: break
                }
            }
        }

        private mutating func set(_ item: String, _ isDown: Bool) {
            if isDown { held.insert(item) } else { held.remove(item) }
        }
    }
}
