import NIOCore
import Packaging

/// A viewer of the bare stream or a container over HTTP.
@MediaLoop
final class HTTPViewer: PullingViewer {
    let channel: any Channel
    let container: Container?
    private let stopwatch: HandoverLatency.Stopwatch
    private(set) var queue: ViewerQueue
    private var waiter: CheckedContinuation<StreamPiece?, Never>?
    private(set) var hasEnded = false
    /// Bytes of the last piece, until the next one is asked for. What the connection's own buffer holds, 64 KiB and a piece, is beside.
    private(set) var underWay = 0
    /// The PTS of its first picture in a container, µs.
    private var origin: Int64?

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

    var hasRoom: Bool { waiter != nil }

    func offer(_ picture: Picture) {
        if let container, picture.packaged[container] == nil { return queue.miss() }
        queue.offer(picture)
        guard let waiter, let piece = nextPiece() else { return }
        self.waiter = nil
        underWay = piece.byteCount
        waiter.resume(returning: piece)
    }

    func next() async -> StreamPiece? {
        underWay = 0
        if let piece = nextPiece() {
            underWay = piece.byteCount
            return piece
        }
        if hasEnded { return nil }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter = $0 }
        } onCancel: {
            Task { @MediaLoop in self.finish() }
        }
    }

    private func nextPiece() -> StreamPiece? {
        guard let entry = queue.next() else { return nil }
        let picture = entry.picture
        stopwatch.handedOver(CollectionOfOne(picture.stamps.relayed))
        guard let container else { return StreamPiece(body: picture.bytes(in: .annexB)) }
        guard let chunk = picture.packaged[container] else { return nil }
        let beginning = origin == nil ? chunk.beginning : nil
        let origin = self.origin ?? picture.pts
        self.origin = origin
        switch container {
        case .transportStream:
            // A keyframe's own packets say nothing of the pictures lost before it.
            guard entry.lost > 0, origin != picture.pts else { return StreamPiece(body: chunk.bytes) }
            let packets = TransportStream.discontinuity(before: chunk.bytes.readableBytesView)
            return StreamPiece(head: ByteBuffer(bytes: packets), body: chunk.bytes)
        case .fragmentedMP4:
            return fragment(chunk.bytes, time: picture.pts - origin, after: beginning)
        }
    }

    /// The fragment at a time of the viewer's own: players take the first one's time for how long they are to wait, or for part of the duration.
    private func fragment(_ bytes: ByteBuffer, time: Int64, after beginning: ByteBuffer?) -> StreamPiece {
        var body = bytes
        guard var head = body.readSlice(length: FragmentedMP4.headSize) else { return StreamPiece(body: bytes) }
        head.setInteger(time, at: head.readerIndex + FragmentedMP4.decodeTimeOffset)
        guard var first = beginning else { return StreamPiece(head: head, body: body) }
        first.writeImmutableBuffer(head)
        return StreamPiece(head: first, body: body)
    }

    func end() {
        hasEnded = true
        waiter?.resume(returning: nil)
        waiter = nil
    }
}
