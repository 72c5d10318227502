import Media

/// The node that a stream connects to, and how.
struct PipeWireTarget {
    /// Which side links the stream with the node.
    enum Linking {
        case sessionManager
        /// The stream itself, because no session manager runs.
        case own
    }

    var node: UInt32
    /// Whether to draw the pointer over the pictures if the producer reports its position.
    var drawsPointer = true
    var linking = Linking.sessionManager
    /// Whether the node outlives the stream and therefore must get its buffers back. PipeWire forgets the buffers that
    /// a consumer takes along.
    var outlivesStream = false
    /// The size of the monitor that the source makes, unless the demand has another; `nil` if it makes none, and any
    /// size is accepted.
    var size: PictureSize?

    /// The only size to accept; `nil` for any.
    func size(for demand: SourceDemand.Value) -> PictureSize? { size.map { demand.monitor ?? $0 } }
}
