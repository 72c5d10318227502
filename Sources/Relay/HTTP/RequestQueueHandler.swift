import NIOCore
import NIOHTTP1

/// Passes on a connection's requests one at a time, each after the answer to the previous one, and ends the connection
/// after its last answer.
///
/// An answer is the last one if it or its request says `Connection: close`, or if its request asked for another
/// protocol. Requests after it are dropped: they are neither performed nor answered (RFC 9112, section 9.6).
final class RequestQueueHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Most parts of requests that wait. At this limit the connection is not read.
    private static let mostWaiting = 16

    private var waiting = CircularBuffer<HTTPServerRequestPart>()
    /// What ends the waiting requests: an error of the parser, or the end of the client's output.
    private var failure: HTTPParserError?
    private var inputIsClosed = false
    /// Whether the current request is incomplete.
    private var requestIsOpen = false
    /// Whether the answer to it is incomplete.
    private var owesAnswer = false
    /// Whether no request may follow the current one.
    private var isLast = false
    /// Whether the last answer is complete.
    private var hasEnded = false
    private var readIsPutOff = false

    // MARK: Requests

    /// Whether the next part is passed on at once: it belongs to the current request, or no answer is owed.
    private var isOpen: Bool { !hasEnded && (requestIsOpen || !owesAnswer && !isLast) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if waiting.isEmpty, isOpen {
            handOn(unwrapInboundIn(data), context)
        } else if !isLast {
            waiting.append(unwrapInboundIn(data))
        }
    }

    private func handOn(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
        switch part {
        case .head(let head):
            (requestIsOpen, owesAnswer, isLast) = (true, true, !head.isKeepAlive || Self.switches(head))
            if Self.awaitsContinue(head) {
                let goOn = HTTPResponseHead(version: .http1_1, status: .continue)
                context.writeAndFlush(wrapOutboundOut(.head(goOn)), promise: nil)
            }
        case .body: break
        case .end: requestIsOpen = false
        }
        context.fireChannelRead(wrapInboundOut(part))
    }

    /// Returns whether the request asks for another protocol. If that is refused, the parser reads nothing that
    /// follows.
    private static func switches(_ head: HTTPRequestHead) -> Bool {
        head.method == .CONNECT || head.headers.contains(name: "Upgrade")
    }

    /// Returns whether the client waits for a 100 (Continue) before it sends the body (RFC 9110, section 10.1.1).
    private static func awaitsContinue(_ head: HTTPRequestHead) -> Bool {
        head.version == .http1_1 && head.headers[canonicalForm: "Expect"].contains { $0.lowercased() == "100-continue" }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
        if waiting.isEmpty, isOpen {
            context.fireErrorCaught(error)
        } else if !isLast {
            failure = error
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed, !waiting.isEmpty {
            inputIsClosed = true
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func read(context: ChannelHandlerContext) {
        guard waiting.count < Self.mostWaiting else { return readIsPutOff = true }
        context.read()
    }

    /// Passes on the received parts of the next request.
    private func goOn(_ context: ChannelHandlerContext) {
        if isLast {
            waiting.removeAll()
            failure = nil
        }
        while isOpen, let part = waiting.popFirst() { handOn(part, context) }
        context.fireChannelReadComplete()
        guard waiting.isEmpty else { return }
        if let failure, isOpen {
            self.failure = nil
            context.fireErrorCaught(failure)
        }
        if inputIsClosed {
            inputIsClosed = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        if readIsPutOff {
            readIsPutOff = false
            context.read()
        }
    }

    // MARK: Answers

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !hasEnded else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        // Interim responses (RFC 9110, section 15.2) come before the answer.
        case .head(let head) where head.status.code >= 200: write(head, promise, context)
        case .head, .body: context.write(data, promise: promise)
        case .end:
            owesAnswer = false
            guard isLast else {
                context.write(data, promise: promise)
                return goOn(context)
            }
            hasEnded = true
            let promise = promise ?? context.eventLoop.makePromise()
            LastAnswer.end(context.channel, after: promise.futureResult)
            context.write(data, promise: promise)
        }
    }

    private func write(_ head: HTTPResponseHead, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
        var head = head
        if isLast { head.headers.replaceOrAdd(name: "Connection", value: "close") }
        isLast = !head.isKeepAlive
        context.write(wrapOutboundOut(.head(head)), promise: promise)
        // Drops the waiting parts and reads on, so that the end of the client's output is noticed.
        if isLast { goOn(context) }
    }
}
