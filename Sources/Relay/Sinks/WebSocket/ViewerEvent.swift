import HeliographAPI
import Media
import Program
import Wire

/// What a viewer is told on its WebSocket beside pictures: one JSON object a message.
enum ViewerEvent {
    /// The version of docs/websocket.md.
    private static let version = 1

    @MediaLoop
    static func hello(_ session: Session) -> JSONValue {
        let request = session.request
        return [
            "type": "hello",
            "version": .integer(version),
            "release": .string(Release.current),
            "session": JSONValue(session.id),
            "device": .string(session.device.name),
            "label": JSONValue(request.label),
            "codec": .string(request.codec.rawValue),
            "fps": .integer(request.fps),
            "bitrate": .integer(request.bitrate),
            "repeat": .bool(request.repeat),
            "epoch": JSONValue(session.epoch),
        ]
    }

    static func feed(_ feed: String) -> JSONValue { ["type": "feed", "feed": .string(feed)] }

    static func size(_ configuration: StreamConfiguration) -> JSONValue {
        [
            "type": "size", "width": .integer(configuration.size.width), "height": .integer(configuration.size.height),
            "orientation": JSONValue(configuration.orientation),
        ]
    }

    /// - Parameter dropped: Pictures left out before the one that follows.
    static func resync(dropped: UInt64) -> JSONValue { ["type": "resync", "dropped": JSONValue(dropped)] }

    /// The relay closes the connection.
    static func end(_ reason: ViewerClosure) -> JSONValue { ["type": "end", "reason": .string(reason.rawValue)] }

    static func clock(id: JSONValue, now: UInt64) -> JSONValue {
        ["type": "clock", "id": id, "relay": JSONValue(now)]
    }
}
