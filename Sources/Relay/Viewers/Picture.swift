package import Media
package import NIOCore

/// One access unit as viewers get it. Each framing's bytes are made once and shared by all viewers.
package struct Picture: Sendable, Equatable {
    package let pts: Int64
    package let isKey: Bool
    private let annexB: ByteBuffer
    private let scrcpy: ByteBuffer?

    /// - Parameter packetized: whether a viewer may ask for ``Framing/scrcpy``.
    package init(_ accessUnit: AccessUnit, codec: Codec, packetized: Bool) {
        pts = accessUnit.pts
        isKey = accessUnit.flags.contains(.key)
        annexB = ByteBuffer(bytes: accessUnit.bytes)
        scrcpy = packetized ? ScrcpyFraming.packets(of: accessUnit, codec: codec) : nil
    }

    package var byteCount: Int { annexB.readableBytes }

    /// The bytes in `framing`. ``Framing/scrcpy`` needs a picture that was made `packetized`.
    package func bytes(in framing: Framing) -> ByteBuffer {
        switch framing {
        case .annexB: return annexB
        case .scrcpy:
            guard let scrcpy else { preconditionFailure("the session did not announce packetized viewers") }
            return scrcpy
        }
    }
}
