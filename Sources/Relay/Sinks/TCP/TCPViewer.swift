import HeliographAPI
import NIOCore

/// A viewer on a session's TCP port. The event loop moves units from the queue to the socket as fast as the socket
/// takes them.
@MediaLoop
final class TCPViewer: RenditionViewer {
    /// How long the last bytes may take when the session ends.
    private static let lingerTime = TimeAmount.seconds(1)

    private let channel: any Channel
    let format: StreamFormat
    private let stopwatch: HandoverLatency.Stopwatch
    private(set) var queue: ViewerQueue

    init(
        channel: any Channel,
        framing: Framing,
        limits: ViewerQueue.Limits,
        stopwatch: HandoverLatency.Stopwatch
    ) {
        self.stopwatch = stopwatch
        self.channel = channel
        format = .bare(framing)
        queue = ViewerQueue(limits: limits)
    }

    var hasRoom: Bool { channel.isWritable }

    func offer(_ unit: RenderedUnit) {
        queue.offer(unit)
        drain()
    }

    func miss() { queue.miss() }

    /// Writes waiting units while the socket's buffer has room.
    func drain() {
        guard let first = writeNext() else { return }
        // There is usually one picture, which needs no array.
        var others: [UInt64] = []
        while let next = writeNext() { others.append(next) }
        channel.flush()
        stopwatch.handedOver(CollectionOfOne(first))
        stopwatch.handedOver(others)
    }

    /// Writes the next picture if the socket's buffer has room.
    ///
    /// - Returns: When the relay received it, monotonic ns; `nil` if nothing was written.
    private func writeNext() -> UInt64? {
        guard hasRoom, let rendered = queue.next()?.rendered else { return nil }
        channel.write(rendered.bytes, promise: nil)
        return rendered.unit.relayed
    }

    var underWay: Int { (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0 }

    /// Closes the connection without the reason, because neither framing has a place for it.
    func close(because reason: ViewerClosure) { channel.close(promise: nil) }

    func finish() {
        let channel = channel
        channel.writeAndFlush(ByteBuffer()).whenComplete { _ in channel.close(promise: nil) }
        MediaLoop.schedule(at: .now() + Self.lingerTime) { channel.close(promise: nil) }
    }
}

/// Tells a session when a TCP viewer joins, can take more, and leaves.
final class TCPViewerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let viewer: TCPViewer
    private let session: Session

    init(viewer: TCPViewer, session: Session) {
        self.viewer = viewer
        self.session = session
    }

    func channelActive(context: ChannelHandlerContext) {
        let (viewer, session) = (viewer, session)
        let admitted = MediaLoop.assumeIsolated { session.admit(viewer) }
        if !admitted { context.close(promise: nil) }
    }

    /// Ignores what the viewer sends. Reading is only needed to notice when the connection ends.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        let (viewer, session) = (viewer, session)
        MediaLoop.assumeIsolated {
            viewer.drain()
            session.source.refreshStarving()
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        let (viewer, session) = (viewer, session)
        MediaLoop.assumeIsolated { session.remove(viewer) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
