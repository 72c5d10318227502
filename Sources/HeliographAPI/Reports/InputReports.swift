package import Wire

/// How an agent can act on its screen.
package struct InputDevicesReport: APIModel, Equatable {
    package var backend = ""
    package var pointer = false
    package var keyboard = false
    package var touch = false
    package var smoothScroll = false
    package var anyCharacter = false
    package var clipboard: [ClipboardType] = []
    package var problem: String?
    package var gamepads: [String] = []
    package var resize = false

    package init() {}

    package init(_ capabilities: InputCapabilities) {
        backend = capabilities.backend
        pointer = capabilities.pointer
        keyboard = capabilities.keyboard
        touch = capabilities.touch
        smoothScroll = capabilities.smoothScroll
        anyCharacter = capabilities.anyCharacter
        if capabilities.clipboard == true { clipboard = ClipboardType.allCases }
        problem = capabilities.problem
        gamepads = capabilities.gamepads ?? []
        resize = capabilities.resize == true
    }

    package static let schema = Schema.report(
        "InputDevices",
        [
            Field("backend", .text, "`wlroots`, `mutter`, `x11`, `portal`, `uinput`, or `none`."),
            Field("pointer", .bool, "Whether there is a pointer with buttons and a wheel."),
            Field("keyboard", .bool), Field("touch", .bool),
            Field("smoothScroll", .bool, "Whether it scrolls by less than a notch of a wheel."),
            Field("anyCharacter", .bool, "Whether it types characters that the keyboard's layout lacks."),
            Field(
                "clipboard",
                .array(of: .words(ClipboardType.self)),
                "What can be read from and put into the clipboard: `text` and `png`, or nothing."
            ),
            Field(
                "problem",
                .text.orNull,
                "Why there is no backend, and what to do, for people; null if there is one."
            ),
            Field("gamepads", .array(of: .text), "The gamepads that it can make: `xbox`, `dualsense`."),
            Field("resize", .bool, "Whether the monitor takes another size."),
        ]
    )
}

/// The answer to actions.
package struct ActionsReport: APIModel {
    package var device = ""
    package var session: UInt32?
    package var at = ""
    package var startPts: Int64?
    package var pts: Int64?
    package var steps = 0

    package init() {}

    package static let schema = Schema.report(
        "ActionsDone",
        [
            Field("device", .text),
            Field("session", .anyInteger.orNull, "The session's id; null if the actions have no places and none runs."),
            Field("at", .date, "Just before the desktop got the last event."),
            Field(
                "startPts",
                .anyInteger.orNull,
                "Just before the desktop got the first event, on the session's clock, µs; null without a session."
            ),
            Field(
                "pts",
                .anyInteger.orNull,
                "`at` on the session's clock, µs, for the `after` of a wait; null without a session."
            ),
            Field("steps", .count, "How many events and pauses the actions were."),
        ]
    )
}

/// The answer to a release.
package struct ReleaseReport: APIModel {
    package var device = ""
    package var released = false

    package init() {}

    package static let schema = Schema.report(
        "Released",
        [
            Field("device", .text),
            Field(
                "released",
                .bool,
                "Whether an agent has released everything; false if none is linked that acts on the screen, and nothing is held."
            ),
        ]
    )
}

/// The answer to a call that sets the clipboard.
package struct ClipboardSetReport: APIModel {
    package var device = ""
    package var type = ClipboardType.text
    package var bytes = 0

    package init() {}

    package static let schema = Schema.report(
        "ClipboardSet",
        [
            Field("device", .text), Field("type", .words(ClipboardType.self)),
            Field("bytes", .count, "The content's size."),
        ]
    )
}
