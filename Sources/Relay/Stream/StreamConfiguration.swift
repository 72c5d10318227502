package import Media
package import NIOCore
import Packaging

/// What a player must know about the pictures from a keyframe on.
package struct StreamConfiguration: Sendable, Equatable {
    /// The codec string of RFC 6381, such as `avc3.42C01F`. It is the in-band kind because keyframes bring their
    /// parameter sets.
    package let codec: String
    package let size: PictureSize
    /// Clockwise quarter turns that a player applies, 0 to 3.
    package let orientation: UInt8
    /// The bytes that a player gets before the keyframe: its parameter sets in Annex B, or a container's beginning.
    package var preamble: [UInt8]

    /// Reads a keyframe's configuration. Returns `nil` for other pictures, and if the parameter sets cannot be read.
    package init?(_ accessUnit: EncodedUnit<some MediaBytes>, codec: Codec) {
        guard accessUnit.isKey, let sets = ParameterSets(leading: accessUnit.bytes, codec: codec),
            let string = CodecString.inBand(sets, codec: codec)
        else { return nil }
        self.codec = string
        size = accessUnit.size
        orientation = accessUnit.orientation
        preamble = sets.bytes
    }

    /// The WebSocket message with this configuration; see docs/reference/websocket.md.
    package var message: ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeInteger(WebSocketMessageType.configuration.rawValue)
        buffer.writeInteger(UInt8(0))
        buffer.writeInteger(orientation)
        buffer.writeInteger(UInt8(0))
        buffer.writeInteger(UInt32(clamping: size.width))
        buffer.writeInteger(UInt32(clamping: size.height))
        buffer.writeInteger(UInt16(clamping: codec.utf8.count))
        buffer.writeString(codec)
        buffer.writeBytes(preamble)
        return buffer
    }
}

/// The first byte of a binary message to a viewer.
package enum WebSocketMessageType: UInt8, Sendable {
    case configuration = 1
    case accessUnit = 2
    case sound = 3
}
