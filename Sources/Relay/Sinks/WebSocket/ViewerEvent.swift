import HeliographAPI
package import Media
package import NIOCore
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

/// The message that carries an access unit to a WebSocket; see docs/websocket.md.
package enum UnitMessage {
    /// Bytes before the access unit.
    package static let headByteCount = 36

    /// - Parameter relayed: When the relay had the unit, monotonic ns.
    package static func head(_ header: UnitHeader, relayed: UInt64) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(headByteCount)
        buffer.writeInteger(WebSocketMessageType.accessUnit.rawValue)
        buffer.writeInteger(header.flags.rawValue)
        buffer.writeInteger(header.orientation)
        buffer.writeInteger(UInt8(0))
        buffer.writeInteger(header.pts)
        buffer.writeInteger(header.captured)
        buffer.writeInteger(header.encodeEnd)
        buffer.writeInteger(relayed)
        return buffer
    }
}
