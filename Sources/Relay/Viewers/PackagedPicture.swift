import NIOCore

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
