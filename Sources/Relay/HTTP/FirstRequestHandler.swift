import NIOCore
import NIOHTTP1

/// Decides whether a connection's first request may upgrade to a WebSocket. Until that request's head arrives, it
/// closes the connection when the relay shuts down.
///
/// NIO's upgrade handler, which is next, loses requests whose upgrade it refuses. So it only sees admitted upgrades.
/// From other requests this handler removes the upgrade (RFC 9110, section 7.8, lets a server ignore it), and the API
/// answers them.
final class FirstRequestHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// How far the first request has come.
    private enum State {
        case waiting
        /// The decision is pending; these parts have arrived since.
        case asking([HTTPServerRequestPart])
        case done
    }

    private let entrance: WebSocketEntrance
    /// The handlers of requests that precede this one. They leave when the connection becomes a WebSocket.
    private let others: [any RemovableChannelHandler]
    private var state = State.waiting

    init(entrance: WebSocketEntrance, others: [any RemovableChannelHandler]) {
        self.entrance = entrance
        self.others = others
    }

    func handlerRemoved(context: ChannelHandlerContext) { state = .done }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        switch (state, part) {
        case (.waiting, .head(let head)):
            guard head.headers.contains(name: "upgrade") else { return goOn([part], context: context) }
            state = .asking([])
            let loopBound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            entrance.admission(for: head, on: context.channel).whenSuccess { admission in
                let (handler, context) = loopBound.value
                var head = head
                if admission != nil, handler.hasWholeRequest {
                    for other in handler.others {
                        context.pipeline.syncOperations.removeHandler(other, promise: nil)
                    }
                } else {
                    head.headers.remove(name: "upgrade")
                }
                handler.goOn([.head(head)], context: context)
            }
        case (.asking(let parts), _): state = .asking(parts + [part])
        case (.waiting, _), (.done, _): context.fireChannelRead(data)
        }
    }

    /// Whether the whole request has arrived. NIO upgrades only then, and a WebSocket's own limits begin there.
    private var hasWholeRequest: Bool {
        guard case .asking(let parts) = state, case .end = parts.last else { return false }
        return true
    }

    private func goOn(_ parts: [HTTPServerRequestPart], context: ChannelHandlerContext) {
        var parts = parts
        switch state {
        case .done: return
        case .asking(let more): parts += more
        case .waiting: break
        }
        state = .done
        for part in parts { context.fireChannelRead(wrapInboundOut(part)) }
        context.fireChannelReadComplete()
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent: context.close(promise: nil)
        case let event as ChannelEvent where event == .inputClosed: context.close(promise: nil)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
