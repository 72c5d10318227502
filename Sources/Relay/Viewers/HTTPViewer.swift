import NIOCore
import Packaging

/// A viewer of the bare stream or a container over HTTP.
@MediaLoop
final class HTTPViewer: PullingViewer {
    let channel: any Channel
    let container: Container?
    private let stopwatch: HandoverLatency.Stopwatch
    private(set) var queue: ViewerQueue
    private var waiter: CheckedContinuation<ByteBuffer?, Never>?
    private(set) var hasEnded = false
    /// Bytes of the last piece, until the next one is asked for. What the connection's own buffer holds, 64 KiB and a piece, is beside.
    private(set) var underWay = 0
    /// Whether it was given a picture, and how often it had been continued at a keyframe by then.
    private var (hasBegun, resyncs): (Bool, UInt64) = (false, 0)

    /// - Parameters:
    ///   - channel: The connection that the response goes to.
    ///   - container: Nil for the bare stream.
    init(
        channel: any Channel,
        container: Container?,
        limits: ViewerQueue.Limits,
        stopwatch: HandoverLatency.Stopwatch
    ) {
        self.stopwatch = stopwatch
        self.channel = channel
        self.container = container
        queue = ViewerQueue(limits: limits)
    }

    var starves: Bool { queue.starves && waiter != nil }

    func offer(_ picture: Picture) {
        if let container, picture.packaged[container] == nil { return queue.miss() }
        queue.offer(picture)
        guard let waiter, let bytes = nextBytes() else { return }
        self.waiter = nil
        underWay = bytes.readableBytes
        waiter.resume(returning: bytes)
    }

    /// The next bytes, nil at the end of the stream. One task calls it.
    func next() async -> ByteBuffer? {
        underWay = 0
        if let bytes = nextBytes() {
            underWay = bytes.readableBytes
            return bytes
        }
        if hasEnded { return nil }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter = $0 }
        } onCancel: {
            Task { @MediaLoop in self.finish() }
        }
    }

    private func nextBytes() -> ByteBuffer? {
        guard let picture = queue.next() else { return nil }
        stopwatch.handedOver(CollectionOfOne(picture.stamps.relayed))
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

    func end() {
        hasEnded = true
        waiter?.resume(returning: nil)
        waiter = nil
    }
}
