import NIOCore

/// Hands an agent's connection's bytes and its end to its ``AgentLink``.
final class AgentLinkHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let link: AgentLink

    init(link: AgentLink) { self.link = link }

    func channelActive(context: ChannelHandlerContext) {
        let link = link
        MediaLoop.assumeIsolated { link.opened() }
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let (link, bytes) = (link, unwrapInboundIn(data))
        MediaLoop.assumeIsolated { link.received(bytes) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        let link = link
        MediaLoop.assumeIsolated { link.closed() }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
