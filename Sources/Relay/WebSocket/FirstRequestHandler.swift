import NIOCore
import NIOHTTP1

/// Watches a connection until the head of its first request has come: ends it when that takes too long, is no HTTP, or the relay shuts down.
///
/// NIO's upgrade handler, which is next, loses a request whose upgrade it refuses. So only those that are let in get there as upgrades; of all
/// others the wish is taken away (RFC 9110, section 7.8, lets a server ignore it), and the API answers them.
final class FirstRequestHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum State {
        case waiting(Scheduled<Void>?)
        /// Whether to let it in is being asked; what has come since.
        case asking([HTTPServerRequestPart])
        case done
    }

    private let entrance: WebSocketEntrance
    private let timeout: TimeAmount
    private var state = State.waiting(nil)

    init(entrance: WebSocketEntrance, timeout: TimeAmount) {
        self.entrance = entrance
        self.timeout = timeout
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let loopBound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let deadline = context.eventLoop.scheduleTask(in: timeout) {
            let (handler, context) = loopBound.value
            handler.refuse(.requestTimeout, context: context)
        }
        state = .waiting(deadline)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        if case .waiting(let deadline) = state { deadline?.cancel() }
        state = .done
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        switch (state, part) {
        case (.waiting(let deadline), .head(let head)):
            deadline?.cancel()
            guard head.headers.contains(name: "upgrade") else { return goOn([part], context: context) }
            state = .asking([])
            let loopBound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            entrance.session(for: head, on: context.channel).whenSuccess { session in
                let (handler, context) = loopBound.value
                var head = head
                if session == nil { head.headers.remove(name: "upgrade") }
                handler.goOn([.head(head)], context: context)
            }
        case (.asking(let parts), _): state = .asking(parts + [part])
        case (.waiting, _), (.done, _): context.fireChannelRead(data)
        }
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

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is HTTPParserError {
            refuse(.badRequest, context: context)
        } else {
            context.close(promise: nil)
        }
    }

    private func refuse(_ status: HTTPResponseStatus, context: ChannelHandlerContext) {
        if case .done = state { return }
        state = .done
        let head = HTTPResponseHead(
            version: .http1_1,
            status: status,
            headers: ["Connection": "close", "Content-Length": "0"]
        )
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        let loopBound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in loopBound.value.close(promise: nil) }
    }
}
