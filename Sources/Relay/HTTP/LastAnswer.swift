import HTTPTypes
import HeliographAPI
import NIOCore
import NIOHTTP1

/// The last answer on a connection, given by its pipeline without a request's handler.
enum LastAnswer {
    /// How long the peer has to read the answer. Meanwhile its bytes are read too, because closing a socket with unread
    /// bytes resets the connection.
    private static let lingerTime = TimeAmount.seconds(3)

    /// Writes `problem` and ends the connection. The next outbound handler before `context` must encode responses.
    static func write(_ problem: Problem, to context: ChannelHandlerContext) {
        let body = ByteBuffer(string: problem.body.text + "\n")
        var headers: HTTPHeaders = [
            "Content-Type": "application/problem+json", "Content-Length": "\(body.readableBytes)",
            "Cache-Control": "no-store", "Connection": "close",
        ]
        for field in problem.headers { headers.add(name: field.name.canonicalName, value: field.value) }
        let status = HTTPResponseStatus(statusCode: problem.status)
        let parts: [HTTPServerResponsePart] = [
            .head(HTTPResponseHead(version: .http1_1, status: status, headers: headers)), .body(.byteBuffer(body)),
        ]
        for part in parts { context.write(NIOAny(part), promise: nil) }
        let sent = context.writeAndFlush(NIOAny(HTTPServerResponsePart.end(nil)))
        let channel = context.channel
        end(channel, after: sent)
        // A TLS handshake that never ends would hold the answer back.
        channel.eventLoop.scheduleTask(in: lingerTime) { channel.close(promise: nil) }
    }

    /// Ends the connection after the last answer is `sent`: first the relay's direction, then the rest if the peer does
    /// not close.
    static func end(_ channel: any Channel, after sent: EventLoopFuture<Void>) {
        sent.whenComplete { _ in
            channel.close(mode: .output, promise: nil)
            channel.eventLoop.scheduleTask(in: lingerTime) { channel.close(promise: nil) }
        }
    }
}

/// Tells a refused connection the reason, whatever it requests, and ends it.
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
