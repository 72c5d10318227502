/// Something that happened in the relay.
package struct EventReport: APIModel {
    /// The types of events.
    package enum Kind: String, Sendable, CaseIterable, Codable {
        case broadcastChanged = "broadcast.changed"
        case agentLinked = "agent.linked"
        case agentLost = "agent.lost"
        case sessionStarted = "session.started"
        case sessionChanged = "session.changed"
        case sessionEnded = "session.ended"
        case feedChanged = "feed.changed"
        case viewerJoined = "viewer.joined"
        case viewerLeft = "viewer.left"
        case waitEnded = "wait.ended"
        case controllerChanged = "controller.changed"
        case speakerChanged = "speaker.changed"
        case recordingChanged = "recording.changed"
        case keysChanged = "keys.changed"
        case tunnelChanged = "tunnel.changed"
        case eventsMissed = "events.missed"

        /// Whether anyone who may watch or act can cause such events, as often as they like.
        package var isCausedByViewer: Bool {
            switch self {
            case .viewerJoined, .viewerLeft, .waitEnded, .controllerChanged, .speakerChanged: true
            case .broadcastChanged, .agentLinked, .agentLost, .sessionStarted, .sessionChanged, .sessionEnded,
                .feedChanged, .recordingChanged, .keysChanged, .tunnelChanged, .eventsMissed:
                false
            }
        }
    }

    package var type = ""
    package var at = ""
    package var device: String?
    package var session: UInt32?
    package var name: String?
    package var state: String?

    package init() {}

    package static let schema = Schema.report(
        "Event",
        "Something that happened.",
        [
            Field("type", .words(Kind.self)),
            Field("at", .date, "When."),
            Field("device", .text.orNull, "The device that it is about; null for the relay."),
            Field("session", .anyInteger.orNull, "The session's id; null if it is about none."),
            Field("name", .text.orNull, "The session's name; null for none."),
            Field(
                "state",
                .text.orNull,
                """
                What it is by now: a broadcast's state, a session's `feed`, an agent's role, a wait's outcome, a device's \
                `controller` or `speaker`, a tunnel's state, what happened to a recording (`recording`, `ended`, `gap`, or \
                its `state`), or at most how many events were missed; null for others.
                """
            ),
        ]
    )
}

/// The events that a caller wants: the query of GET /v1/events.
package struct EventQuery: APIModel {
    package var types: String?
    package var device: String?
    package var session: Int?
    package var follow = true

    package init() {}

    /// The requested types; `nil` for all.
    package var kinds: Set<EventReport.Kind>? { types.flatMap(Self.kinds) }

    /// Parses words separated by commas. Returns `nil` unless ``allowedTypes`` contains them all. The part of a word
    /// before its dot stands for all types that begin with it.
    package static func kinds(_ text: String) -> Set<EventReport.Kind>? {
        var kinds: Set<EventReport.Kind> = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            let found = EventReport.Kind.allCases.filter { $0.rawValue == word || $0.rawValue.hasPrefix("\(word).") }
            guard !found.isEmpty, !word.isEmpty else { return nil }
            kinds.formUnion(found)
        }
        return kinds
    }

    package static let allowedTypes =
        EventReport.Kind.allCases.map(\.rawValue).joined(separator: ", ")
        + ", or their beginnings, with commas between them"

    package static let schema = Schema.request(
        nil,
        [
            Field(
                "types",
                Schema(
                    .pattern(
                        Schema.Pattern(
                            length: 1...300,
                            expression: "^[a-z]+(\\.[a-z]+)?(,[a-z]+(\\.[a-z]+)?)*$",
                            allowed: allowedTypes
                        ) { kinds($0) != nil }
                    )
                ),
                "Only these types, with commas between them; `session` stands for all that begin with `session.`."
            ),
            Field("device", .string(0...100), "Only events of this device."),
            Field("session", .integer(1...Int(UInt32.max)), "Only events of the session with this id."),
            Field(
                "follow",
                .bool.default(true),
                "Whether the stream goes on with what happens next. `false`: it ends after the events that are kept."
            ),
        ]
    )
}
