import HeliographAPI
import NIOCore
import NIOWebSocket

/// A WebSocket on its connection's event loop. The protocol is handled here, the messages by the endpoint.
final class WebSocketHandler: ChannelDuplexHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private static let tickInterval = TimeAmount.milliseconds(500)

    private let endpoint: any WebSocketEndpoint
    private var machine: WebSocketMachine
    private var ticks: RepeatedTask?
    /// Completes when Close has been written.
    private var closeSent: EventLoopFuture<Void>?

    init(endpoint: any WebSocketEndpoint, policy: WebSocketMachine.Policy) {
        self.endpoint = endpoint
        machine = WebSocketMachine(policy: policy, now: .now())
    }

    /// Closes a WebSocket from this side, on any thread.
    static func close(_ channel: any Channel, _ close: WebSocketClose) {
        channel.eventLoop.execute { channel.pipeline.fireUserInboundEventTriggered(close) }
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let loopBound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        ticks = context.eventLoop.scheduleRepeatedTask(initialDelay: Self.tickInterval, delay: Self.tickInterval) { _ in
            let (handler, context) = loopBound.value
            handler.perform(handler.machine.tick(now: .now()), context: context)
        }
        endpoint.opened()
    }

    /// Always called; a connection that closed during the upgrade gets no `channelInactive`.
    func handlerRemoved(context: ChannelHandlerContext) { end() }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    private func end() {
        guard let running = ticks else { return }
        running.cancel()
        ticks = nil
        endpoint.closed()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        perform(machine.received(unwrapInboundIn(data), now: .now()), context: context)
    }

    /// Writes the endpoint's messages, except those on their way when Close was sent (RFC 6455, section 5.5.1).
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
            // WebSockets have no half-closed state: without a Close the peer is gone.
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
            // A peer that does not read gets none: only the latest Ping needs an answer (section 5.5.3).
            case .pong(let payload): if context.channel.isWritable { send(.pong, payload, context: context) }
            case .message(let text): received(text, context: context)
            case .input(let bytes): received(bytes, context: context)
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
        do {
            guard let answer = try endpoint.received(text), context.channel.isWritable else { return }
            send(.text, Array(answer.text.utf8), context: context)
        } catch {
            perform(machine.close(.init(.policyViolation, "\(error)"), now: .now()), context: context)
        }
    }

    private func received(_ bytes: [UInt8], context: ChannelHandlerContext) {
        do {
            try endpoint.received(bytes)
        } catch {
            perform(machine.close(.init(.policyViolation, "\(error)"), now: .now()), context: context)
        }
    }
}
