import NIOCore

/// The bytes that a viewer takes at once: its own, followed by those that it shares with others.
struct StreamPiece: Sendable {
    var head: ByteBuffer?
    let body: ByteBuffer

    var byteCount: Int { (head?.readableBytes ?? 0) + body.readableBytes }

    /// Both parts in one buffer. It copies the shared bytes if there is a head, so call it off the media loop.
    var joined: ByteBuffer {
        guard var bytes = head else { return body }
        bytes.writeImmutableBuffer(body)
        return bytes
    }
}

/// A viewer that pulls: an HTTP response takes the next bytes when its connection has room.
@MediaLoop
protocol PullingViewer: Viewer, Sendable {
    /// The connection that the response goes to.
    var channel: any Channel { get }
    /// Returns the next bytes, or `nil` at the end of the stream. One task calls it.
    func next() async -> StreamPiece?
    var hasEnded: Bool { get }
    /// Ends the stream, and resumes a task that waits for the next bytes.
    func end()
}

extension PullingViewer {
    /// How long the last bytes may take when the session ends.
    private static var lingerTime: TimeAmount { .seconds(3) }

    /// Cuts the response off, because it has no place for the reason.
    func close(because reason: ViewerClosure) {
        finish()
        channel.close(promise: nil)
    }

    /// Ends the response. If the client does not read, it also closes the connection after a while.
    func finish() {
        guard !hasEnded else { return }
        end()
        let channel = channel
        MediaLoop.schedule(at: .now() + Self.lingerTime) { channel.close(promise: nil) }
    }
}
