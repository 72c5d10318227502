package import Media
package import NIOCore

/// What a WebSocket viewer is told of a picture beside its bytes.
package struct PictureStamps: Sendable, Equatable {
    package static let byteCount = 36

    package let flags: AccessUnit.Flags
    /// Clockwise quarter turns that a player applies, 0 to 3.
    package let orientation: UInt8
    /// When the frame was captured and when its encoding ended, monotonic ns.
    package let captured: UInt64
    package let encodeEnd: UInt64
    /// When the relay had it, monotonic ns.
    package let relayed: UInt64
    /// Of a keyframe, where it can be read.
    package let configuration: StreamConfiguration?

    package init(_ accessUnit: AccessUnit, codec: Codec, relayed: UInt64) {
        flags = accessUnit.flags
        orientation = accessUnit.orientation
        captured = accessUnit.captured
        encodeEnd = accessUnit.encodeEnd
        self.relayed = relayed
        configuration = StreamConfiguration(accessUnit, codec: codec)
    }

    /// The head of the message that carries the picture, ``byteCount`` bytes; see docs/websocket.md.
    package func head(pts: Int64) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(Self.byteCount)
        buffer.writeInteger(WebSocketMessageType.accessUnit.rawValue)
        buffer.writeInteger(flags.rawValue)
        buffer.writeInteger(orientation)
        buffer.writeInteger(UInt8(0))
        buffer.writeInteger(pts)
        buffer.writeInteger(captured)
        buffer.writeInteger(encodeEnd)
        buffer.writeInteger(relayed)
        return buffer
    }
}
