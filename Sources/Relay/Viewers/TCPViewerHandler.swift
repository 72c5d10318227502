import NIOCore

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
            session.refreshStarving()
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
