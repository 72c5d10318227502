import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// A connection to the HTTP API: HTTP/1.1 as Hummingbird serves it, or a WebSocket if its first request is admitted as
/// one.
struct HTTPConnection: ServerChildChannel, HTTPChannelHandler {
    enum Outcome: Sendable {
        case http(NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>)
        case webSocket
        /// There was no room for the connection.
        case refused
    }

    struct Value: ServerChildChannelValue {
        let channel: any Channel
        let outcome: EventLoopFuture<Outcome>
    }

    let responder: Responder
    let entrance: WebSocketEntrance
    /// The TLS server; `nil` without encryption.
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
            // As in Hummingbird's own HTTP1Channel: other handlers do these jobs.
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

    /// Refuses a connection with an answer.
    ///
    /// - Throws: `refusal`, if the connection is closed without an answer.
    private func refuse(_ channel: any Channel, because refusal: Connections.Refusal) throws -> Value {
        guard connections.tellsWhy(channel) else {
            // Throwing alone would leave the channel open without an owner.
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
