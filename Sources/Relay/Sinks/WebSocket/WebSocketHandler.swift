import HeliographAPI
import NIOCore
import NIOWebSocket

/// A viewer's WebSocket on its connection's event loop: the protocol is answered here, what it says of the session on the media loop.
final class WebSocketHandler: ChannelDuplexHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private static let tickInterval = TimeAmount.milliseconds(500)

    private let viewer: WebSocketViewer
    private var machine: WebSocketMachine
    private var ticks: RepeatedTask?
    /// When Close has left.
    private var closeSent: EventLoopFuture<Void>?

    init(viewer: WebSocketViewer, policy: WebSocketMachine.Policy) {
        self.viewer = viewer
        machine = WebSocketMachine(policy: policy, now: .now())
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let loopBound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        ticks = context.eventLoop.scheduleRepeatedTask(initialDelay: Self.tickInterval, delay: Self.tickInterval) { _ in
            let (handler, context) = loopBound.value
            handler.perform(handler.machine.tick(now: .now()), context: context)
        }
        let viewer = viewer
        MediaLoop.eventLoop.execute { MediaLoop.assumeIsolated { viewer.begin() } }
    }

    /// Comes in any case; a connection that closed while it was upgraded does not become inactive once more.
    func handlerRemoved(context: ChannelHandlerContext) { end() }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    private func end() {
        ticks?.cancel()
        let viewer = viewer
        MediaLoop.eventLoop.execute { MediaLoop.assumeIsolated { viewer.leave() } }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        perform(machine.received(unwrapInboundIn(data), now: .now()), context: context)
    }

    /// The viewer's messages. Those that were on their way when Close was sent are left out (section 5.5.1 of RFC 6455).
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard machine.isOpen else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        context.write(data, promise: promise)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? NIOWebSocketError {
            perform(machine.received(error, now: .now()), context: context)
        } else {
            context.close(promise: nil)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed {
            // A WebSocket has no halves: without a Close this is a peer that is gone.
            context.close(promise: nil)
        } else if let close = event as? WebSocketClose {
            perform(machine.close(close, now: .now()), context: context)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    private func perform(_ actions: [WebSocketMachine.Action], context: ChannelHandlerContext) {
        for action in actions {
            switch action {
            case .ping(let payload): send(.ping, payload, context: context)
            // Not to a peer that does not read: only the latest Ping has to be answered (section 5.5.3).
            case .pong(let payload): if context.channel.isWritable { send(.pong, payload, context: context) }
            case .message(let text): received(text, context: context)
            case .close(let close):
                var data = ByteBuffer(integer: close.code)
                data.writeString(close.reason)
                let frame = WebSocketFrame(fin: true, opcode: .connectionClose, data: data)
                closeSent = context.writeAndFlush(wrapOutboundOut(frame))
            case .finish:
                let channel = context.channel
                closeSent?.whenComplete { _ in channel.close(promise: nil) }
            case .drop: context.close(promise: nil)
            }
        }
    }

    private func send(_ opcode: WebSocketOpcode, _ payload: [UInt8], context: ChannelHandlerContext) {
        let frame = WebSocketFrame(fin: true, opcode: opcode, data: ByteBuffer(bytes: payload))
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }

    private func received(_ text: String, context: ChannelHandlerContext) {
        let viewer = viewer
        do {
            switch try ViewerMessage(parsing: text) {
            case .clock(let id):
                // An answer that waits is worth nothing.
                guard context.channel.isWritable else { return }
                // At once and here, since the viewer takes half of the way there and back for the way back.
                let event = ViewerEvent.clock(id: id, now: NIODeadline.now().uptimeNanoseconds)
                send(.text, Array(event.text.utf8), context: context)
            case .keyframe: MediaLoop.eventLoop.execute { MediaLoop.assumeIsolated { viewer.wantsKeyframe() } }
            case .acknowledgement(let pts, let instant):
                MediaLoop.eventLoop.execute { MediaLoop.assumeIsolated { viewer.presented(pts, at: instant) } }
            case .unknown: break
            }
        } catch {
            perform(machine.close(.init(.policyViolation, "\(error)"), now: .now()), context: context)
        }
    }
}
