import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// A connection to the HTTP API: HTTP/1.1 as Hummingbird serves it, or a WebSocket when its first request is let in as one.
struct HTTPConnection: ServerChildChannel, HTTPChannelHandler {
    enum Outcome: Sendable {
        case http(NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>)
        case webSocket
    }

    struct Value: ServerChildChannelValue {
        let channel: any Channel
        let outcome: EventLoopFuture<Outcome>
    }

    let responder: Responder
    let entrance: WebSocketEntrance
    /// How long the first request's head may take.
    let requestTimeout: TimeAmount

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let upgrades = NIOTypedHTTPServerUpgradeConfiguration<Outcome>(upgraders: [entrance.upgrader]) { channel in
                channel.eventLoop.makeCompletedFuture { .http(try Self.serveHTTP(on: channel, logger: logger)) }
            }
            var configuration = NIOUpgradableHTTPServerPipelineConfiguration(upgradeConfiguration: upgrades)
            // As Hummingbird's own HTTP1Channel: its parts see to these.
            configuration.enablePipelining = false
            configuration.enableErrorHandling = false
            configuration.enableResponseHeaderValidation = false
            let operations = channel.pipeline.syncOperations
            let outcome = try operations.configureUpgradableHTTPServerPipeline(configuration: configuration)
            let decoder = try operations.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            let first = FirstRequestHandler(entrance: entrance, timeout: requestTimeout)
            try operations.addHandler(first, position: .after(decoder))
            return Value(channel: channel, outcome: outcome)
        }
    }

    private static func serveHTTP(
        on channel: any Channel,
        logger: Logger
    ) throws -> NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart> {
        let operations = channel.pipeline.syncOperations
        try operations.addHandler(HTTP1ToHTTPServerCodec(secure: false))
        try operations.addHandler(HTTPConnectionStateHandler(logger: logger))
        return try NIOAsyncChannel(
            wrappingChannelSynchronously: channel,
            configuration: .init(isOutboundHalfClosureEnabled: true)
        )
    }

    func handle(value: Value, logger: Logger) async {
        let outcome = try? await withTaskCancellationHandler {
            try await value.outcome.get()
        } onCancel: {
            value.channel.close(promise: nil)
        }
        switch outcome {
        case .http(let channel): await handleHTTP(asyncChannel: channel, logger: logger)
        case .webSocket:
            await withTaskCancellationHandler {
                try? await value.channel.closeFuture.get()
            } onCancel: {
                value.channel.close(promise: nil)
            }
        case nil: try? await value.channel.close()
        }
    }
}
