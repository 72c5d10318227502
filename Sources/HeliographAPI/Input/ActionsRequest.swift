/// What a caller does on a device's screen: the body of POST /v1/devices/{device}/actions.
///
/// It has exactly one of ``actions`` and the short forms after it; see ``plan()``.
package struct ActionsRequest: APIModel {
    package var actions: [ActionSource]?
    package var click: Click?
    package var doubleClick: Click?
    package var tap: Place?
    package var swipe: Stroke?
    package var drag: Stroke?
    package var scroll: Scroll?
    package var type: String?
    package var press: String?
    package var resize: Size?
    package var session: String?
    package var geometry: UInt32?
    package var take = false

    package init() {}

    package struct Click: Codable, Sendable {
        package var x: Double
        package var y: Double
        package var button: MouseButton?
        package var count: Int?
    }

    package struct Place: Codable, Sendable {
        package var x: Double
        package var y: Double
    }

    package struct Stroke: Codable, Sendable {
        package var from: [Double]
        package var to: [Double]
        /// s.
        package var duration: Double?
        package var button: MouseButton?
    }

    package struct Scroll: Codable, Sendable {
        package var x: Double
        package var y: Double
        package var dx: Double?
        package var dy: Double?
    }

    package struct Size: Codable, Sendable {
        package var width: Int
        package var height: Int
    }

    package enum MouseButton: String, Codable, Sendable, CaseIterable {
        case left, middle, right, back, forward
    }

    /// Most characters of ``type``.
    package static let maximumText = 16_384
    /// The longest stroke, s.
    package static let longestStroke = 60.0

    package static let schema = Schema.request(
        "Actions",
        """
        Exactly one of `actions` and the short forms `click` to `resize`. Places are pixels of the session's snapshots: a whole \
        number means the middle of that pixel.
        """,
        forms + [
            Field(
                "session",
                .shortName,
                """
                The id or the name of the session whose pixels the places are. Default: the device's shared session, or its \
                only one.
                """
            ),
            Field(
                "geometry",
                .integer(0...Int(UInt32.max)),
                """
                The `Heliograph-Geometry` of the snapshot that the places are from. If it is another by now, nothing is \
                done. Default: any.
                """
            ),
            Field("take", .bool.default(false), "Whether to take over a device that another caller controls."),
        ]
    )

    private static let forms = [
        Field(
            "actions",
            .list(of: ActionSource.schema, 1...ActionSource.maximumSources),
            "The sources of WebDriver's actions, which act at the same time (W3C WebDriver, section 15)."
        ),
        Field(
            "click",
            object([
                x, y, mouseButton,
                Field("count", .integer(1...10), "How many clicks. Default: 1."),
            ]),
            "Moves the pointer and clicks."
        ),
        Field("doubleClick", object([x, y, mouseButton]), "Moves the pointer and clicks twice."),
        Field("tap", object([x, y]), "Touches the screen with a finger."),
        Field("swipe", object([from, to, duration]), "Moves a finger over the screen."),
        Field("drag", object([from, to, duration, mouseButton]), "Moves the pointer with a button held down."),
        Field(
            "scroll",
            object([
                x, y,
                Field("dx", coordinate, "To the right, in pixels. Default: 0."),
                Field("dy", coordinate, "Down, in pixels; a wheel's notch is 120. Default: 0."),
            ]),
            "Moves the pointer and turns the wheel."
        ),
        Field(
            "type",
            .string(1...maximumText),
            "Types the text. Line feeds are the key Return, tabs are Tab."
        ),
        Field(
            "press",
            .string(1...200),
            "Presses keys together, such as `ctrl+shift+t`; more chords after spaces."
        ),
        Field(
            "resize",
            object([
                Field("width", monitorSide, isRequired: true), Field("height", monitorSide, isRequired: true),
            ]),
            """
            Gives the monitor another size, if it can take any: one of sway without hardware (`HEADLESS-1`), or a virtual \
            one of GNOME.
            """
        ),
    ]

    /// The range of coordinates and distances.
    static let coordinate = Schema.number(-65_536...65_536)

    private static let monitorSide = Schema(.even(16...8192), "Pixels, rounded down to even.")
    private static let x = Field("x", coordinate, "From the left, in pixels.", isRequired: true)
    private static let y = Field("y", coordinate, "From the top, in pixels.", isRequired: true)
    private static let from = Field("from", point, "Where it begins: `[x, y]`.", isRequired: true)
    private static let to = Field("to", point, "Where it ends: `[x, y]`.", isRequired: true)
    private static let point = Schema.list(of: coordinate, 2...2)
    private static let duration = Field("duration", .number(0...longestStroke), "How long it takes, s. Default: 0.3.")
    private static let mouseButton = Field("button", .words(MouseButton.self), "Default: `left`.")

    private static func object(_ fields: [Field]) -> Schema { .request(nil, fields) }
}

/// A source of actions, as in WebDriver.
package struct ActionSource: Codable, Sendable {
    package enum Kind: String, Codable, Sendable, CaseIterable { case none, key, pointer, wheel }
    package enum PointerKind: String, Codable, Sendable, CaseIterable { case mouse, touch }

    package struct Parameters: Codable, Sendable {
        package var pointerType: PointerKind?
    }

    /// One action of a source, for one tick.
    package struct Action: Codable, Sendable {
        package enum Kind: String, Codable, Sendable, CaseIterable {
            case pause, keyDown, keyUp, pointerDown, pointerUp, pointerMove, pointerCancel, scroll
        }

        package enum Origin: String, Codable, Sendable, CaseIterable { case viewport, pointer }

        package var type: Kind
        /// ms.
        package var duration: Int?
        package var value: String?
        package var button: Int?
        package var x: Double?
        package var y: Double?
        package var origin: Origin?
        package var deltaX: Double?
        package var deltaY: Double?
    }

    package var type: Kind
    package var id: String
    package var parameters: Parameters?
    package var actions: [Action]

    /// Most sources of a call, and most actions of a source.
    package static let maximumSources = 16
    package static let maximumActions = 4096
    /// The longest duration of an action, ms.
    package static let longestDuration = 60_000

    static let schema = Schema(
        .variants([
            source(.none, "Only pauses.", []),
            source(
                .key,
                "A keyboard.",
                [
                    action(.keyDown, "Presses a key, which stays down.", [key]),
                    action(.keyUp, "Releases a key.", [key]),
                ]
            ),
            source(
                .pointer,
                "A mouse or a finger.",
                [
                    action(.pointerMove, "Moves it.", [duration, requiredX, requiredY, origin] + ignored),
                    action(
                        .pointerDown,
                        "Presses a button, or puts the finger down.",
                        [pressDuration, button] + ignored
                    ),
                    action(.pointerUp, "Releases a button, or lifts the finger.", [pressDuration, button] + ignored),
                    action(.pointerCancel, "Cancels the finger's touch.", []),
                ],
                [
                    Field(
                        "parameters",
                        .request(
                            nil,
                            [Field("pointerType", .words(PointerKind.self), "Default: `mouse`.")]
                        )
                    )
                ]
            ),
            source(
                .wheel,
                "A wheel.",
                [
                    action(
                        .scroll,
                        "Moves the pointer there and turns the wheel.",
                        [
                            duration, requiredX, requiredY, wheelOrigin,
                            Field("deltaX", ActionsRequest.coordinate, "To the right, in pixels.", isRequired: true),
                            Field("deltaY", ActionsRequest.coordinate, "Down, in pixels.", isRequired: true),
                        ]
                    )
                ]
            ),
        ]),
        named: "ActionSource",
        "A source of actions. The actions of all sources at the same place in their lists begin together."
    )

    private static func source(_ kind: Kind, _ summary: String, _ actions: [Schema], _ others: [Field] = []) -> Schema {
        let pause = action(.pause, "Waits.", [duration])
        return .request(
            nil,
            summary,
            [
                Field("type", .constant(.string(kind.rawValue)), isRequired: true),
                Field("id", .string(0...100), "The source's name.", isRequired: true),
            ] + others + [
                Field(
                    "actions",
                    .list(of: Schema(.variants([pause] + actions)), 0...maximumActions),
                    isRequired: true
                )
            ]
        )
    }

    private static func action(_ kind: Action.Kind, _ summary: String, _ fields: [Field]) -> Schema {
        let type = Field("type", .constant(.string(kind.rawValue)), isRequired: true)
        return .request(nil, summary, [type] + fields)
    }

    private static let duration = Field(
        "duration",
        .integer(0...longestDuration),
        "ms. Default: as long as the longest of the other sources' actions."
    )
    private static let pressDuration = Field("duration", .integer(0...longestDuration), "Ignored.")
    private static let button = Field(
        "button",
        .integer(0...4),
        "0: left, 1: middle, 2: right, 3: back, 4: forward. Default: 0."
    )
    private static let key = Field(
        "value",
        .string(1...8),
        "One character, or WebDriver's code of a key, such as U+E007 for Enter.",
        isRequired: true
    )
    private static let requiredX = Field("x", ActionsRequest.coordinate, "Pixels.", isRequired: true)
    private static let requiredY = Field("y", ActionsRequest.coordinate, "Pixels.", isRequired: true)
    private static let origin = Field(
        "origin",
        .origins(Action.Origin.allCases.map(\.rawValue)),
        "`viewport`: x and y are a place. `pointer`: they are the distance from where the pointer is. Default: `viewport`."
    )
    private static let wheelOrigin = Field(
        "origin",
        .origins([Action.Origin.viewport.rawValue]),
        "Default: `viewport`."
    )
    /// What WebDriver has for pens and contact areas.
    private static let ignored = [
        "width", "height", "pressure", "tangentialPressure", "tiltX", "tiltY", "twist", "altitudeAngle", "azimuthAngle",
    ].map { Field($0, ActionsRequest.coordinate, "Ignored.") }
}

extension Schema {
    /// Describes the origins of places. WebDriver also has elements of a page, of which a screen has none.
    fileprivate static func origins(_ words: [String]) -> Schema {
        var words = Words(words, [], ignoresCase: false, nil)
        words.objectAdvice =
            "is an element, which a screen does not have; allowed: \(words.allowed), with a place from a snapshot"
        return Schema(.words(words))
    }
}

/// The query of DELETE /v1/devices/{device}/actions.
package struct ReleaseQuery: APIModel {
    package var take = false

    package init() {}

    package static let schema = Schema.request(
        nil,
        [Field("take", .bool.default(false), "Whether to release also what another caller holds, who loses control.")]
    )
}

extension ActionsRequest.MouseButton {
    /// The button with WebDriver's number, 0 to 4.
    init(webDriver number: Int) {
        self =
            switch number {
            case 1: .middle
            case 2: .right
            case 3: .back
            case 4: .forward
            default: .left
            }
    }

    /// Its code in Linux, BTN_LEFT to BTN_EXTRA.
    var code: UInt16 {
        switch self {
        case .left: 0x110
        case .right: 0x111
        case .middle: 0x112
        case .back: 0x113
        case .forward: 0x114
        }
    }
}
