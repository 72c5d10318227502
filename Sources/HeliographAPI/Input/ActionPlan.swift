package import Wire

/// The steps that an agent performs for a caller's actions.
package struct ActionPlan: Sendable, Equatable {
    package fileprivate(set) var steps: [InputStep] = []
    /// The sum of all pauses, ms.
    package fileprivate(set) var milliseconds = 0

    /// The longest sum of all pauses, ms.
    package static let longest = 60_000

    /// Whether steps are at places in the picture, or move by its pixels.
    package var hasPlaces: Bool {
        steps.contains { step in
            switch step {
            case .pointer, .pointerBy, .touch: true
            case .button, .scroll, .key, .text, .pause, .releaseAll, .resize: false
            }
        }
    }

    /// How many characters are typed.
    package var characters: Int {
        steps.reduce(0) { if case .text(let text) = $1 { $0 + text.unicodeScalars.count } else { $0 } }
    }

    /// Adds a step.
    ///
    /// - Throws: A fault if there are too many, or if it is farther away than an order can say.
    mutating func add(_ step: InputStep) throws(ActionFault) {
        guard steps.count < InputOrder.maximumSteps else {
            throw ActionFault(
                .outOfRange,
                "the actions are more than \(InputOrder.maximumSteps) steps: make them shorter, or several calls"
            )
        }
        if let problem = step.problem {
            throw ActionFault(.outOfRange, "\(problem), beyond every screen")
        }
        steps.append(step)
    }

    /// Takes fingers away that are still down: no later call could go on with them.
    fileprivate mutating func liftFingers() throws(ActionFault) {
        var down: [UInt8: InputStep] = [:]
        for case .touch(let id, let phase, let x, let y) in steps {
            down[id] = phase == .up || phase == .cancel ? nil : .touch(id: id, phase: .cancel, x: x, y: y)
        }
        for (_, cancel) in down.sorted(by: { $0.key < $1.key }) { try add(cancel) }
    }

    /// Adds a pause, as several steps if it is long.
    ///
    /// - Throws: A fault if all pauses together are too long.
    mutating func wait(_ time: Int) throws(ActionFault) {
        milliseconds += time
        guard milliseconds <= Self.longest else {
            throw ActionFault(
                .outOfRange,
                "the actions take more than \(Self.longest / 1000) s: make them shorter, or several calls"
            )
        }
        var left = time
        while left > 0 {
            let pause = min(left, Self.longestPause)
            try add(.pause(milliseconds: UInt16(pause)))
            left -= pause
        }
    }

    /// The longest pause of one step, ms.
    private static let longestPause = 10_000
}

/// Why actions cannot be performed.
package struct ActionFault: Error, Sendable, Equatable {
    package let code: ProblemCode
    package let detail: String
    /// The wrong field, if it is one.
    package let field: String?

    init(_ code: ProblemCode, _ detail: String, field: String? = nil) {
        (self.code, self.detail, self.field) = (code, detail, field)
    }
}

extension ActionsRequest {
    /// Returns the steps of the request.
    ///
    ///     {"click": {"x": 10, "y": 20}}  →  pointer (10.5, 20.5), button down, pause, button up
    ///
    /// - Throws: A fault if there is not exactly one form, or what it says makes no sense.
    package func plan() throws(ActionFault) -> ActionPlan {
        let forms: [(name: String, isThere: Bool)] = [
            ("actions", actions != nil), ("click", click != nil), ("doubleClick", doubleClick != nil),
            ("tap", tap != nil), ("swipe", swipe != nil), ("drag", drag != nil), ("scroll", scroll != nil),
            ("type", type != nil), ("press", press != nil), ("resize", resize != nil),
        ]
        let present = forms.filter(\.isThere).map(\.name)
        guard let first = present.first else {
            let names = forms.map(\.name).joined(separator: ", ")
            throw ActionFault(
                .missingField,
                "the actions are missing; one of these is needed: \(names)",
                field: "actions"
            )
        }
        if let second = present.dropFirst().first {
            throw ActionFault(.unknownField, "\(second) does not go with \(first): make two calls", field: second)
        }
        var plan = ActionPlan()
        if let actions { try plan.add(actions) }
        if let click { try plan.click(click, times: click.count ?? 1) }
        if let doubleClick { try plan.click(doubleClick, times: 2) }
        if let tap { try plan.tap(tap) }
        if let swipe { try plan.swipe(swipe) }
        if let drag { try plan.drag(drag) }
        if let scroll { try plan.scroll(scroll) }
        if let type { try plan.type(type) }
        if let press { try plan.press(press) }
        if let resize { try plan.resize(resize) }
        try plan.liftFingers()
        return plan
    }
}
