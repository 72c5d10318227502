package import Media
package import NIOCore

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
