/// A viewer that can go on with the pictures of another layer of its session.
@MediaLoop
protocol LayeredViewer: RenditionViewer {
    /// Whether the layer of smaller pictures suits it better.
    var wantsSmall: Bool { get }
    /// Goes on with another layer's pictures, from a keyframe on. What waits is dropped.
    func watch(_ layer: Session)
    /// Records that it watches the whole layer, because there is no other.
    func becomeWhole()
}
