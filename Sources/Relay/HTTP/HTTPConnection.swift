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
        /// There was no place for it.
        case refused
    }

    struct Value: ServerChildChannelValue {
        let channel: any Channel
        let outcome: EventLoopFuture<Outcome>
    }

    let responder: Responder
    let entrance: WebSocketEntrance
    /// Nil where nothing is encrypted.
    let tls: TLSServer?
    let connections: Connections

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            do throws(Connections.Refusal) {
                try connections.admit(channel)
            } catch {
                return try refuse(channel, because: error)
            }
            let upgrades = NIOTypedHTTPServerUpgradeConfiguration<Outcome>(upgraders: [entrance.upgrader]) { channel in
                channel.eventLoop.makeCompletedFuture { .http(try serveHTTP(on: channel, logger: logger)) }
            }
            var configuration = NIOUpgradableHTTPServerPipelineConfiguration(upgradeConfiguration: upgrades)
            // As Hummingbird's own HTTP1Channel: its parts see to these.
            configuration.enablePipelining = false
            configuration.enableErrorHandling = false
            configuration.enableResponseHeaderValidation = false
            configuration.decoderConfiguration = RequestLimitHandler.head
            let operations = channel.pipeline.syncOperations
            if let tls { try operations.addHandler(tls.makeHandler()) }
            let outcome = try operations.configureUpgradableHTTPServerPipeline(configuration: configuration)
            let decoder = try operations.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            let (queue, limits) = (RequestQueueHandler(), RequestLimitHandler(limits: connections.limits))
            let first = FirstRequestHandler(entrance: entrance, others: [queue, limits])
            try operations.addHandlers([queue, limits, first], position: .after(decoder))
            return Value(channel: channel, outcome: outcome)
        }
    }

    /// - Throws: What it is refused because of, where it is closed without being told.
    private func refuse(_ channel: any Channel, because refusal: Connections.Refusal) throws -> Value {
        guard connections.tellsWhy(channel) else {
            // An error alone leaves it open, and to nobody.
            channel.close(promise: nil)
            throw refusal
        }
        let operations = channel.pipeline.syncOperations
        if let tls { try operations.addHandler(tls.makeHandler()) }
        try operations.addHandlers([HTTPResponseEncoder(), RefusalHandler(refusal)])
        return Value(channel: channel, outcome: channel.eventLoop.makeSucceededFuture(.refused))
    }

    private func serveHTTP(
        on channel: any Channel,
        logger: Logger
    ) throws -> NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart> {
        let operations = channel.pipeline.syncOperations
        try operations.addHandler(HTTP1ToHTTPServerCodec(secure: tls != nil))
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
        case .webSocket, .refused:
            await withTaskCancellationHandler {
                try? await value.channel.closeFuture.get()
            } onCancel: {
                value.channel.close(promise: nil)
            }
        case nil: try? await value.channel.close()
        }
    }
}
