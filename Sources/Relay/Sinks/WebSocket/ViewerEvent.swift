import HeliographAPI
package import Media
package import NIOCore
import Program
import Wire

/// The events that a viewer gets on its WebSocket besides pictures: one JSON object per message.
enum ViewerEvent {
    /// The version of the protocol in docs/reference/websocket.md.
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

    /// Returns the event for a gap.
    ///
    /// - Parameter dropped: Pictures left out before the one that follows.
    static func resync(dropped: UInt64) -> JSONValue { ["type": "resync", "dropped": JSONValue(dropped)] }

    /// Returns the event before the relay closes the connection.
    static func end(_ reason: ViewerClosure) -> JSONValue { ["type": "end", "reason": .string(reason.rawValue)] }

    static func clock(id: JSONValue, now: UInt64) -> JSONValue {
        ["type": "clock", "id": id, "relay": JSONValue(now)]
    }
}

/// The message that carries an access unit to a WebSocket; see docs/reference/websocket.md.
package enum UnitMessage {
    /// Bytes before the access unit.
    package static let headByteCount = 36

    /// Returns the bytes before the access unit.
    ///
    /// - Parameter relayed: When the relay received the unit, monotonic ns.
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
