import NIOCore

/// A viewer that pulls: an HTTP response takes the next bytes when its connection has room.
@MediaLoop
protocol PullingViewer: Viewer, Sendable {
    /// The connection that the response goes to.
    var channel: any Channel { get }
    /// The next bytes, nil at the end of the stream. One task calls it.
    func next() async -> ByteBuffer?
    var hasEnded: Bool { get }
    /// Ends the stream: who waits for the next bytes is told.
    func end()
}

extension PullingViewer {
    /// How long the last bytes may take when the session ends.
    private static var lingerTime: TimeAmount { .seconds(3) }

    /// The response is cut off: it has no place for the reason.
    func close(because reason: ViewerClosure) {
        finish()
        channel.close(promise: nil)
    }

    /// Ends the response, and in the end its connection, where a client that does not read would hold the response up for ever.
    func finish() {
        guard !hasEnded else { return }
        end()
        let channel = channel
        MediaLoop.schedule(at: .now() + Self.lingerTime) { channel.close(promise: nil) }
    }
}
