import NIOCore
import Packaging

/// A viewer that pulls: an HTTP response takes the next bytes when its connection has room.
@MediaLoop
final class HTTPViewer: Viewer {
    /// How long the last bytes may take when the session ends.
    private static let lingerTime = TimeAmount.seconds(1)

    private let channel: any Channel
    let container: Container?
    private(set) var queue: ViewerQueue
    private var waiter: CheckedContinuation<ByteBuffer?, Never>?
    private var finished = false
    /// Whether it was given a picture, and how often it had been continued at a keyframe by then.
    private var (hasBegun, resyncs): (Bool, UInt64) = (false, 0)

    /// - Parameters:
    ///   - channel: The connection that the response goes to.
    ///   - container: Nil for the bare stream.
    init(channel: any Channel, container: Container?, limits: ViewerQueue.Limits) {
        self.channel = channel
        self.container = container
        queue = ViewerQueue(limits: limits)
    }

    var starves: Bool { queue.starves && waiter != nil }

    func offer(_ picture: Picture) {
        if let container, picture.packaged[container] == nil { return }
        queue.offer(picture)
        guard let waiter, let bytes = nextBytes() else { return }
        self.waiter = nil
        waiter.resume(returning: bytes)
    }

    /// The next bytes, nil at the end of the stream. One task calls it.
    func next() async -> ByteBuffer? {
        if let bytes = nextBytes() { return bytes }
        if finished { return nil }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter = $0 }
        } onCancel: {
            Task { @MediaLoop in self.finish() }
        }
    }

    private func nextBytes() -> ByteBuffer? {
        guard let picture = queue.next() else { return nil }
        guard let container else { return picture.bytes(in: .annexB) }
        guard let chunk = picture.packaged[container] else { return nil }
        let resumes = hasBegun && resyncs != queue.counters.resyncs
        let begins = !hasBegun
        (hasBegun, resyncs) = (true, queue.counters.resyncs)
        if begins, var bytes = chunk.beginning {
            bytes.writeImmutableBuffer(chunk.bytes)
            return bytes
        }
        // Behind dropped pictures comes a keyframe, whose packets say nothing of them.
        if resumes, container == .transportStream {
            var bytes = ByteBuffer(bytes: TransportStream.discontinuity(before: chunk.bytes.readableBytesView))
            bytes.writeImmutableBuffer(chunk.bytes)
            return bytes
        }
        return chunk.bytes
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
