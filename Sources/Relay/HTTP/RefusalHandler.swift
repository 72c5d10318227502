import NIOCore
import NIOHTTP1

/// Tells a connection for which there is no place why, whatever it asks, and ends it.
final class RefusalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = HTTPServerResponsePart

    private let refusal: Connections.Refusal

    init(_ refusal: Connections.Refusal) { self.refusal = refusal }

    func channelActive(context: ChannelHandlerContext) { LastAnswer.write(Problem(refusal), to: context) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
