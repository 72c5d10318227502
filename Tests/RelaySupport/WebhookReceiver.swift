import NIOCore
package import NIOHTTP1
import NIOPosix
import Synchronization
import TestSupport

/// A server on loopback that keeps the messages of webhooks.
package final class WebhookReceiver: Sendable {
    package struct Message: Sendable {
        package let headers: HTTPHeaders
        package let body: String

        package var id: String { headers.first(name: "webhook-id") ?? "" }
    }

    private let kept = Mutex<[Message]>([])
    private let channel: any Channel

    /// - Parameter answer: The status of the answer to a message; `nil` to leave it without one. `number` messages came
    ///   before.
    package init(answer: @escaping @Sendable (Message, _ number: Int) -> HTTPResponseStatus? = { _, _ in .ok })
        async throws
    {
        let handlers = Mutex<WebhookReceiver?>(nil)
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    let handler = Handler { message in
                        guard let receiver = handlers.withLock({ $0 }) else { return nil }
                        let number = receiver.kept.withLock { kept in
                            kept.append(message)
                            return kept.count - 1
                        }
                        return answer(message, number)
                    }
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        handlers.withLock { $0 = self }
    }

    package var url: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)/hook" }

    package var messages: [Message] { kept.withLock { $0 } }

    /// Waits until there are so many messages, and returns all.
    package func messages(_ count: Int) async throws -> [Message] {
        try await eventually("\(count) messages") { messages.count >= count ? messages : nil }
    }

    package func close() async throws { try await channel.close() }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let answer: (Message) -> HTTPResponseStatus?
        private var headers = HTTPHeaders()
        private var body = ""

        init(answer: @escaping (Message) -> HTTPResponseStatus?) { self.answer = answer }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): (headers, body) = (head.headers, "")
            case .body(let bytes): body += String(buffer: bytes)
            case .end:
                guard let status = answer(Message(headers: headers, body: body)) else { return }
                let head = HTTPResponseHead(version: .http1_1, status: status, headers: ["content-length": "0"])
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }
}
