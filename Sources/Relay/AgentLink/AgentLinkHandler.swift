import NIOCore
import Wire

/// Cuts what an agent sends into packets and hands them to its ``AgentLink`` on the event loop.
final class AgentLinkHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var decoder = PacketDecoder(
        accepting: .agentToRelay,
        maximumLength: AgentListener.maximumLengthBeforeHello
    )
    private let link: AgentLink

    init(link: AgentLink) { self.link = link }

    func channelActive(context: ChannelHandlerContext) {
        let link = link
        MediaLoop.assumeIsolated { link.opened() }
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        let link = link
        guard let limit = MediaLoop.assumeIsolated({ link.maximumLength }) else { return }
        MediaLoop.assumeIsolated { link.bytesArrived(bytes.readableBytes) }
        decoder.maximumLength = limit
        decoder.append(bytes.readableBytesView)
        do throws(WireError) {
            while let packet = try decoder.next() {
                let limit = MediaLoop.assumeIsolated {
                    link.received(packet)
                    return link.maximumLength
                }
                guard let limit else { return }
                decoder.maximumLength = limit
            }
        } catch {
            MediaLoop.assumeIsolated { link.failed(error) }
        }
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
