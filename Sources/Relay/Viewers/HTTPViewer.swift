import NIOCore

/// A viewer that pulls: an HTTP response takes the next bytes when its connection has room.
@MediaLoop
final class HTTPViewer: Viewer {
    /// How long the last bytes may take when the session ends.
    private static let lingerTime = TimeAmount.seconds(1)

    private let channel: any Channel
    private(set) var queue: ViewerQueue
    private var waiter: CheckedContinuation<ByteBuffer?, Never>?
    private var finished = false

    /// - Parameter channel: The connection that the response goes to.
    init(channel: any Channel, limits: ViewerQueue.Limits) {
        self.channel = channel
        queue = ViewerQueue(limits: limits)
    }

    var starves: Bool { queue.starves && waiter != nil }

    func offer(_ picture: Picture) {
        queue.offer(picture)
        guard let waiter, let next = queue.next() else { return }
        self.waiter = nil
        waiter.resume(returning: next.bytes(in: .annexB))
    }

    /// The next bytes, nil at the end of the stream. One task calls it.
    func next() async -> ByteBuffer? {
        if let picture = queue.next() { return picture.bytes(in: .annexB) }
        if finished { return nil }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter = $0 }
        } onCancel: {
            Task { @MediaLoop in self.finish() }
        }
    }

    /// Ends the response, and in the end its connection, where a client that does not read would hold the response up for ever.
    func finish() {
        guard !finished else { return }
        finished = true
        waiter?.resume(returning: nil)
        waiter = nil
        let channel = channel
        MediaLoop.schedule(at: .now() + Self.lingerTime) { channel.close(promise: nil) }
    }
}
