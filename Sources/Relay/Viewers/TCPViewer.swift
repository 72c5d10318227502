import NIOCore

/// A viewer on a session's TCP port. Pictures go from the queue to the socket on the event loop as fast as it takes them.
@MediaLoop
final class TCPViewer: Viewer {
    /// How long the last bytes may take when the session ends.
    private static let lingerTime = TimeAmount.seconds(1)

    private let channel: any Channel
    private let framing: Framing
    private(set) var queue: ViewerQueue

    init(channel: any Channel, framing: Framing, limits: ViewerQueue.Limits) {
        self.channel = channel
        self.framing = framing
        queue = ViewerQueue(limits: limits)
    }

    var starves: Bool { queue.starves && channel.isWritable }

    func offer(_ picture: Picture) {
        queue.offer(picture)
        drain()
    }

    /// Writes what waits while the socket's own buffer has room.
    func drain() {
        var wrote = false
        while channel.isWritable, let picture = queue.next() {
            channel.write(picture.bytes(in: framing), promise: nil)
            wrote = true
        }
        if wrote { channel.flush() }
    }

    func finish() {
        let channel = channel
        channel.writeAndFlush(ByteBuffer()).whenComplete { _ in channel.close(promise: nil) }
        MediaLoop.schedule(at: .now() + Self.lingerTime) { channel.close(promise: nil) }
    }
}
