import HeliographAPI
import NIOCore

/// A viewer on a session's TCP port. Units go from the queue to the socket on the event loop as fast as it takes them.
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

    /// Writes what waits while the socket's own buffer has room.
    func drain() {
        guard let first = writeNext() else { return }
        // Mostly there is one picture, and nothing is allocated for it.
        var others: [UInt64] = []
        while let next = writeNext() { others.append(next) }
        channel.flush()
        stopwatch.handedOver(CollectionOfOne(first))
        stopwatch.handedOver(others)
    }

    /// Writes the next picture if the socket's own buffer has room, and returns when the relay had it, monotonic ns.
    private func writeNext() -> UInt64? {
        guard hasRoom, let rendered = queue.next()?.rendered else { return nil }
        channel.write(rendered.bytes, promise: nil)
        return rendered.unit.relayed
    }

    var underWay: Int { (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0 }

    /// Neither framing has a place for the reason.
    func close(because reason: ViewerClosure) { channel.close(promise: nil) }

    func finish() {
        let channel = channel
        channel.writeAndFlush(ByteBuffer()).whenComplete { _ in channel.close(promise: nil) }
        MediaLoop.schedule(at: .now() + Self.lingerTime) { channel.close(promise: nil) }
    }
}

/// Tells a session when a TCP viewer comes, can take more, and goes.
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

    /// Whatever a viewer says is ignored; reading it is how its end is noticed.
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
