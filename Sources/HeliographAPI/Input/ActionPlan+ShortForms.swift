import Program
import Wire

/// The short forms: click, tap, swipe, drag, scroll, type, press, resize.
extension ActionPlan {
    /// How long a click's button is down, and how long two clicks are apart, ms.
    private static let press = 20
    private static let gap = 60
    /// How long a button or a finger rests at both ends of a stroke, and how long a tap lasts, ms.
    private static let rest = 50
    /// How long a stroke takes by default, s.
    private static let usualStroke = 0.3

    mutating func click(_ click: ActionsRequest.Click, times: Int) throws(ActionFault) {
        let code = (click.button ?? .left).code
        try add(.pointer(x: centred(click.x), y: centred(click.y)))
        for time in 0..<times {
            if time > 0 { try wait(Self.gap) }
            try add(.button(code, isDown: true))
            try wait(Self.press)
            try add(.button(code, isDown: false))
        }
    }

    mutating func tap(_ place: ActionsRequest.Place) throws(ActionFault) {
        let point = Point(x: centred(place.x), y: centred(place.y))
        try add(.touch(id: 0, phase: .down, x: point.x, y: point.y))
        try wait(Self.rest)
        try add(.touch(id: 0, phase: .up, x: point.x, y: point.y))
    }

    mutating func swipe(_ stroke: ActionsRequest.Stroke) throws(ActionFault) {
        let (from, to) = try ends(of: stroke, "swipe")
        try add(.touch(id: 0, phase: .down, x: from.x, y: from.y))
        try follow(stroke, from, to) { .touch(id: 0, phase: .move, x: $0.x, y: $0.y) }
        try add(.touch(id: 0, phase: .up, x: to.x, y: to.y))
    }

    mutating func drag(_ stroke: ActionsRequest.Stroke) throws(ActionFault) {
        let (from, to) = try ends(of: stroke, "drag")
        let code = (stroke.button ?? .left).code
        try add(.pointer(x: from.x, y: from.y))
        try add(.button(code, isDown: true))
        try wait(Self.rest)
        try follow(stroke, from, to) { .pointer(x: $0.x, y: $0.y) }
        try wait(Self.rest)
        try add(.button(code, isDown: false))
    }

    private func ends(of stroke: ActionsRequest.Stroke, _ name: String) throws(ActionFault) -> (Point, Point) {
        guard let from = Point(stroke.from), let to = Point(stroke.to) else {
            throw ActionFault(.outOfRange, "\(name) needs two places of two numbers", field: name)
        }
        return (from, to)
    }

    private mutating func follow(
        _ stroke: ActionsRequest.Stroke,
        _ from: Point,
        _ to: Point,
        _ step: (Point) -> InputStep
    ) throws(ActionFault) {
        let duration = Int(((stroke.duration ?? Self.usualStroke) * 1000).rounded())
        var now = 0
        for (time, share) in Course(duration) {
            try wait(time - now)
            now = time
            try add(step(from.towards(to, share)))
        }
    }

    mutating func scroll(_ scroll: ActionsRequest.Scroll) throws(ActionFault) {
        let (dx, dy) = (scroll.dx ?? 0, scroll.dy ?? 0)
        guard dx != 0 || dy != 0 else {
            throw ActionFault(.missingField, "scroll needs a distance: dx or dy", field: "scroll.dy")
        }
        try add(.pointer(x: centred(scroll.x), y: centred(scroll.y)))
        try add(.scroll(dx: dx, dy: dy))
    }

    mutating func type(_ text: String) throws(ActionFault) {
        let text = text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
        for character in text.unicodeScalars {
            guard character != "\n", character != "\t", character.properties.generalCategory == .control else {
                continue
            }
            let code = String(character.value, radix: 16, uppercase: true).zeroPadded(to: 4)
            throw ActionFault(
                .unknownValue,
                "type contains the control character U+\(code); allowed: line feeds and tabs. Press other keys",
                field: "type"
            )
        }
        try add(.text(text))
    }

    mutating func resize(_ size: ActionsRequest.Size) throws(ActionFault) {
        try add(.resize(width: UInt16(clamping: size.width), height: UInt16(clamping: size.height)))
    }

    mutating func press(_ text: String) throws(ActionFault) {
        let chords: [[UInt32]]
        do throws(KeyNames.Unknown) {
            chords = try KeyNames.chords(text)
        } catch {
            let advice =
                error.question.isEmpty ? " Allowed: a character, or a name such as Enter, F5, ctrl." : error.question
            throw ActionFault(.unknownValue, "Unknown key '\(error.name)'.\(advice)", field: "press")
        }
        guard (1...KeyNames.maximumChords).contains(chords.count) else {
            throw ActionFault(
                .outOfRange,
                "press has \(chords.count) chords; allowed: 1 to \(KeyNames.maximumChords)",
                field: "press"
            )
        }
        for chord in chords {
            for key in chord { try add(.key(keysym: key, isDown: true)) }
            try wait(Self.press)
            for key in chord.reversed() { try add(.key(keysym: key, isDown: false)) }
        }
    }
}
