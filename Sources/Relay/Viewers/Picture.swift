package import Media
package import NIOCore

/// One access unit as viewers get it. Each framing's bytes are made once and shared by all viewers.
package struct Picture: Sendable, Equatable {
    package let pts: Int64
    package let isKey: Bool
    /// What WebSocket viewers are told of it beside.
    package let stamps: PictureStamps
    private let annexB: ByteBuffer
    private let scrcpy: ByteBuffer?
    /// The same picture in containers.
    package let packaged = PackagedPicture()

    /// - Parameters:
    ///   - packetized: whether a viewer may ask for ``Framing/scrcpy``.
    ///   - relayed: when the relay had it, monotonic ns.
    package init(_ accessUnit: AccessUnit, codec: Codec, packetized: Bool, relayed: UInt64 = 0) {
        pts = accessUnit.pts
        isKey = accessUnit.isKey
        stamps = PictureStamps(accessUnit, codec: codec, relayed: relayed)
        scrcpy = packetized ? ScrcpyFraming.packets(of: accessUnit, codec: codec) : nil
        // Any but a keyframe stands in its packet as it is.
        let shared = isKey ? nil : scrcpy?.getSlice(at: ScrcpyFraming.headerByteCount, length: accessUnit.bytes.count)
        annexB = shared ?? ByteBuffer(bytes: accessUnit.bytes)
    }

    /// Whether they are the same; what is packaged of them then is too.
    package static func == (one: Picture, other: Picture) -> Bool {
        one.pts == other.pts && one.isKey == other.isKey && one.annexB == other.annexB && one.scrcpy == other.scrcpy
    }

    package var byteCount: Int { annexB.readableBytes }

    /// The bytes in `framing`: none in ``Framing/scrcpy`` of a picture that was not made `packetized`.
    package func bytes(in framing: Framing) -> ByteBuffer {
        switch framing {
        case .annexB: annexB
        case .scrcpy: scrcpy ?? ByteBuffer()
        }
    }
}

/// One picture in the containers that somebody watches, shared by all copies of its ``Picture``.
@MediaLoop
package final class PackagedPicture {
    struct Chunk {
        let bytes: ByteBuffer
        /// What a viewer that begins with this keyframe gets before it.
        var beginning: ByteBuffer?
    }

    private var chunks: [Container: Chunk] = [:]

    nonisolated init() {}

    /// Nil where nobody watches in this container, and where the picture cannot be packaged.
    subscript(_ container: Container) -> Chunk? {
        get { chunks[container] }
        set { chunks[container] = newValue }
    }
}
