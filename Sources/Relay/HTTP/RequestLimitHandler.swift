import NIOCore
import NIOHTTP1

/// Limits the size and the time of requests to the HTTP API. It sees one request at a time: from
/// ``RequestQueueHandler``, or a stream's only one.
final class RequestLimitHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// The rest of a request's body did not arrive in time.
    struct BodyTimeout: Error {}

    /// The limits of a request's head, including its first line. A larger one is a `header_too_large`.
    static let head: NIOHTTPDecoderLimitConfiguration = {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = 16 << 10
        limits.maxHeaderListSize = 32 << 10
        limits.maxHeaderFieldCount = 100
        return limits
    }()

    /// What brings the requests.
    enum Carrier {
        case connection
        /// A stream of HTTP/2, which begins with its request's head.
        case stream
    }

    private let limits: ConnectionLimits
    private let carrier: Carrier
    /// All bytes of answers, and those that a stream's connection has not sent.
    private var (given, unsentOfStream): (Int64, Int) = (0, 0)
    private var clock: RequestClock
    private var timer: (deadline: NIODeadline, task: Scheduled<Void>)?
    /// Whether the last answer was given. Bytes that arrive later are read and ignored.
    private var hasEnded = false

    /// - Parameter began: When the connection or the stream did.
    init(limits: ConnectionLimits, of carrier: Carrier, began: NIODeadline) {
        self.limits = limits
        self.carrier = carrier
        clock = RequestClock(limits: limits, now: began)
    }

    func handlerAdded(context: ChannelHandlerContext) { arm(context) }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.task.cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasEnded else { return }
        switch unwrapInboundIn(data) {
        case .head: clock.headCame(now: .now())
        case .body: break
        case .end: clock.bodyEnded(now: .now())
        }
        arm(context)
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !hasEnded else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        // Interim responses (RFC 9110, section 15.2) come before the answer.
        case .head(let head) where head.status.code >= 200:
            clock.answerBegan(hasLength: head.headers.contains(name: "Content-Length"), now: .now())
        case .body(let bytes):
            given += Int64(bytes.readableBytes)
            if carrier == .stream { return write(bytes, promise ?? context.eventLoop.makePromise(), context) }
        case .head: break
        case .end: clock.answerEnded(now: .now())
        }
        arm(context)
        context.write(data, promise: promise)
    }

    private func write(_ bytes: IOData, _ promise: EventLoopPromise<Void>, _ context: ChannelHandlerContext) {
        let count = bytes.readableBytes
        unsentOfStream += count
        promise.futureResult.assumeIsolated().whenComplete { [self] _ in unsentOfStream -= count }
        context.write(wrapOutboundOut(.body(bytes)), promise: promise)
    }

    func channelInactive(context: ChannelHandlerContext) {
        // A stream that ends with its connection tells nobody that its request is incomplete. Hummingbird would drop
        // the request's body without ending it, which traps.
        if carrier == .stream, clock.bodyIsOpen { context.fireErrorCaught(ChannelError.eof) }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !hasEnded, clock.awaitsHead, let error = error as? HTTPParserError else {
            return context.fireErrorCaught(error)
        }
        end(with: Problem(error), context: context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard hasEnded, let event = event as? ChannelEvent, event == .inputClosed else {
            return context.fireUserInboundEventTriggered(event)
        }
        context.close(promise: nil)
    }

    private func end(with problem: Problem, context: ChannelHandlerContext) {
        hasEnded = true
        timer?.task.cancel()
        LastAnswer.write(problem, to: context)
    }

    /// Schedules a check of the clock. A check that comes too early is harmless.
    private func arm(_ context: ChannelHandlerContext) {
        guard !hasEnded, let deadline = clock.deadline else { return }
        if let timer, timer.deadline <= deadline { return }
        timer?.task.cancel()
        let loopBound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let task = context.eventLoop.scheduleTask(deadline: deadline) {
            let (handler, context) = loopBound.value
            handler.look(context)
        }
        timer = (deadline, task)
    }

    private func look(_ context: ChannelHandlerContext) {
        timer = nil
        switch clock.passed(.now(), given: given, unsent: unsent(context.channel)) {
        case .nothing: break
        case .refuse: end(with: .requestTimeout(limits.requestTimeout), context: context)
        case .endBody: context.fireErrorCaught(BodyTimeout())
        case .close:
            hasEnded = true
            context.close(promise: nil)
        }
        arm(context)
    }

    /// Returns the bytes of answers that the connection has not taken.
    private func unsent(_ channel: any Channel) -> Int {
        // A stream's channel traps when it is asked for this option.
        guard carrier == .connection else { return unsentOfStream }
        return (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }
}
