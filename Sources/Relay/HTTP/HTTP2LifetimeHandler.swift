import NIOCore
import NIOHTTP2

/// Ends a connection of HTTP/2: without a request in time, idle, when its client takes nothing, after an error of the
/// whole connection, or when the relay ends. It is the pipeline's last handler.
final class HTTP2LifetimeHandler: ChannelInboundHandler, NIOHTTP2FrameDelegate {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// Tells the handler of streams.
    struct Streams: NIOHTTP2StreamDelegate {
        let handler: NIOLoopBound<HTTP2LifetimeHandler>

        func streamCreated(_ id: HTTP2StreamID, channel: any Channel) { handler.value.opened(id) }
        func streamClosed(_ id: HTTP2StreamID, channel: any Channel) { handler.value.closed() }
    }

    private let limits: ConnectionLimits
    /// When the first request is due.
    private let deadline: NIODeadline
    private var context: ChannelHandlerContext?
    private var timer: Scheduled<Void>?
    private var openStreams = 0
    private var lastStream = HTTP2StreamID.rootStream
    /// Whether the connection closes after its last stream.
    private var isLeaving = false
    /// All bytes of answers.
    private var given: Int64 = 0
    private var intake = AnswerIntake()

    /// - Parameter began: When the connection did.
    init(limits: ConnectionLimits, began: NIODeadline) {
        self.limits = limits
        deadline = began + limits.requestTimeout
    }

    /// Whether there are streams, without one that is being opened.
    var hasStreams: Bool { openStreams > 0 }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        arm(deadline)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        self.context = nil
    }

    // MARK: Streams

    private func opened(_ id: HTTP2StreamID) {
        openStreams += 1
        lastStream = max(lastStream, id)
        guard openStreams == 1 else { return }
        intake.restart()
        arm(.now() + limits.idleTimeout)
    }

    private func closed() {
        openStreams -= 1
        guard openStreams == 0 else { return }
        guard isLeaving else { return arm(.now() + limits.idleTimeout) }
        // The last stream's frames are flushed after this call.
        later { $0.end() }
    }

    private func arm(_ deadline: NIODeadline) {
        timer?.cancel()
        timer = context?.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [self] in look() }
    }

    private func later(_ body: @escaping (HTTP2LifetimeHandler) -> Void) {
        context?.eventLoop.assumeIsolated().execute { [self] in body(self) }
    }

    private func look() {
        guard let context else { return }
        guard openStreams > 0 else { return end() }
        let unsent = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        if intake.stops(given: given, unsent: unsent) { return context.close(promise: nil) }
        arm(.now() + limits.idleTimeout)
    }

    // MARK: The end

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is ChannelShouldQuiesceEvent else { return context.fireUserInboundEventTriggered(event) }
        guard openStreams > 0 else { return end() }
        isLeaving = true
        sendGoAway(promise: nil)
    }

    func wroteFrame(_ frame: HTTP2Frame) {
        switch frame.payload {
        case .data(let data): given += Int64(data.data.readableBytes)
        case .goAway(_, let error, _) where error != .noError:
            // NIO leaves it open.
            later { $0.context?.close(promise: nil) }
        default: break
        }
    }

    /// Errors of a stream end it, and those of the connection are known by their GOAWAY.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {}

    /// Tells the client which requests were taken (RFC 9113, section 6.8), and closes the connection once it has been
    /// sent all that was answered.
    private func end() {
        guard let context else { return }
        isLeaving = true
        timer?.cancel()
        let sent = context.eventLoop.makePromise(of: Void.self)
        LastAnswer.end(context.channel, after: sent.futureResult)
        sendGoAway(promise: sent)
        timer = context.eventLoop.scheduleTask(in: limits.requestTimeout) { [channel = context.channel] in
            channel.close(promise: nil)
        }
    }

    private func sendGoAway(promise: EventLoopPromise<Void>?) {
        guard let context else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        let frame = HTTP2Frame.FramePayload.goAway(lastStreamID: lastStream, errorCode: .noError, opaqueData: nil)
        context.writeAndFlush(wrapOutboundOut(HTTP2Frame(streamID: .rootStream, payload: frame)), promise: promise)
    }
}
