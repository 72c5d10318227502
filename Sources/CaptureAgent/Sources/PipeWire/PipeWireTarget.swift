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
    var linking = Linking.sessionManager
    /// The only size to accept; nil for any.
    var size: PictureSize?
}
