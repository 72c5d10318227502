import Media

/// How a stream comes to its node.
struct PipeWireTarget {
    /// Who links the stream with the node.
    enum Linking {
        case sessionManager
        /// The stream itself, where no session manager runs.
        case own
    }

    var node: UInt32
    /// Whether the pointer is drawn over the pictures of a producer that tells where it is.
    var drawsPointer = true
    var linking = Linking.sessionManager
    /// Whether the node goes on when the stream ends, and therefore has to have its buffers back: PipeWire forgets those that a
    /// consumer takes along.
    var outlivesStream = false
    /// The only size to accept; nil for any.
    var size: PictureSize?
}
