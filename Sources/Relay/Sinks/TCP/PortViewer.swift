import NIOCore

/// A viewer on one of a session's TCP ports.
@MediaLoop
protocol PortViewer: Viewer, Sendable {
    var channel: any Channel { get }
    /// Begins with the session.
    ///
    /// - Returns: Whether there was room for it.
    func join(_ session: Session) -> Bool
    /// Writes what waits while the socket's buffer has room.
    func drain()
}

extension PortViewer {
    /// How long the last bytes may take when the session ends.
    private static var lingerTime: TimeAmount { .seconds(1) }

    var underWay: Int { (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0 }

    /// Closes the connection without the reason, because neither framing has a place for it.
    func close(because reason: ViewerClosure) { channel.close(promise: nil) }

    func finish() {
        let channel = channel
        channel.writeAndFlush(ByteBuffer()).whenComplete { _ in channel.close(promise: nil) }
        MediaLoop.schedule(at: .now() + Self.lingerTime) { channel.close(promise: nil) }
    }
}

/// Tells a session when a viewer on one of its ports joins, can take more, and leaves.
final class PortViewerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let viewer: any PortViewer
    private let session: Session

    init(viewer: any PortViewer, session: Session) {
        self.viewer = viewer
        self.session = session
    }

    func channelActive(context: ChannelHandlerContext) {
        let (viewer, session) = (viewer, session)
        let admitted = MediaLoop.assumeIsolated { viewer.join(session) }
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
