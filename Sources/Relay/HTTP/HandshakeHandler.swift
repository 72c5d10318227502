import NIOCore
import NIOTLS

/// Closes a connection whose TLS handshake is not over in time, or not when the relay ends. It leaves the pipeline
/// after the handshake.
final class HandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private let deadline: NIODeadline
    private var timer: Scheduled<Void>?

    init(deadline: NIODeadline) { self.deadline = deadline }

    func handlerAdded(context: ChannelHandlerContext) {
        timer = context.eventLoop.scheduleTask(deadline: deadline) { [channel = context.channel] in
            channel.close(promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
        guard case .handshakeCompleted? = event as? TLSUserEvent else { return }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }
}
