import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOTLS

/// A connection to the HTTP API: HTTP/1.1 as Hummingbird serves it, or a WebSocket if its first request is admitted as
/// one; HTTP/2 if TLS has agreed on it.
struct HTTPConnection: ServerChildChannel, HTTPChannelHandler {
    enum Outcome: Sendable {
        case http(NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>)
        case http2(HTTP2Connection)
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
            let terms = Terms(limits: connections.limits, began: .now(), logger: logger)
            let outcome = try tls.map { try secure(channel, by: $0, terms) } ?? upgradable(channel, terms)
            return Value(channel: channel, outcome: outcome)
        }
    }

    /// What the handlers of a connection need to know of it.
    private struct Terms {
        let limits: ConnectionLimits
        let began: NIODeadline
        let logger: Logger
    }

    /// Adds TLS, and then what it agrees on (RFC 7301).
    private func secure(_ channel: any Channel, by tls: TLSServer, _ terms: Terms) throws -> EventLoopFuture<Outcome> {
        // The future within completes with the first request, which cannot come before this one has completed.
        let negotiation = NIOTypedApplicationProtocolNegotiationHandler<EventLoopFuture<Outcome>> { result, channel in
            channel.eventLoop.makeCompletedFuture {
                guard result == .negotiated(HTTP2Connection.name) else { return try upgradable(channel, terms) }
                return channel.eventLoop.makeSucceededFuture(.http2(try multiplexed(channel, terms)))
            }
        }
        try encrypt(channel, by: tls, for: .http)
        try channel.pipeline.syncOperations.addHandlers([
            HandshakeHandler(deadline: terms.began + terms.limits.requestTimeout), negotiation,
        ])
        return negotiation.protocolNegotiationResult.flatMap { $0 }
    }

    private func encrypt(_ channel: any Channel, by tls: TLSServer, for use: TLSIdentity.Use) throws {
        try channel.pipeline.syncOperations.addHandlers([tls.makeHandler(for: use), CloseNotifyHandler()])
    }

    /// Adds the handlers of HTTP/2.
    private func multiplexed(_ channel: any Channel, _ terms: Terms) throws -> HTTP2Connection {
        // A client that closes one direction has left.
        try channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: false)
        let lifetime = NIOLoopBound(
            HTTP2LifetimeHandler(limits: terms.limits, began: terms.began),
            eventLoop: channel.eventLoop
        )
        return try HTTP2Connection(on: channel, lifetime: lifetime) { stream in
            // A stream takes as much memory as a connection. So it counts as one, except for the first.
            if lifetime.value.hasStreams { try connections.admit(stream) }
            let limits = RequestLimitHandler(limits: terms.limits, of: .stream, began: .now())
            try stream.pipeline.syncOperations.addHandler(limits)
            return try serveHTTP(on: stream, [])
        }
    }

    /// Adds the handlers of HTTP/1.1.
    private func upgradable(_ channel: any Channel, _ terms: Terms) throws -> EventLoopFuture<Outcome> {
        let upgrades = NIOTypedHTTPServerUpgradeConfiguration<Outcome>(upgraders: [entrance.upgrader]) { channel in
            channel.eventLoop.makeCompletedFuture {
                .http(try serveHTTP(on: channel, [HTTPConnectionStateHandler(logger: terms.logger)]))
            }
        }
        var configuration = NIOUpgradableHTTPServerPipelineConfiguration(upgradeConfiguration: upgrades)
        // As in Hummingbird's own HTTP1Channel: other handlers do these jobs.
        configuration.enablePipelining = false
        configuration.enableErrorHandling = false
        configuration.enableResponseHeaderValidation = false
        configuration.decoderConfiguration = RequestLimitHandler.head
        let operations = channel.pipeline.syncOperations
        let outcome = try operations.configureUpgradableHTTPServerPipeline(configuration: configuration)
        let decoder = try operations.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        let queue = RequestQueueHandler()
        let limits = RequestLimitHandler(limits: terms.limits, of: .connection, began: terms.began)
        let first = FirstRequestHandler(entrance: entrance, others: [queue, limits])
        try operations.addHandlers([queue, limits, first], position: .after(decoder))
        return outcome
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
        if let tls { try encrypt(channel, by: tls, for: .other) }
        try channel.pipeline.syncOperations.addHandlers([HTTPResponseEncoder(), RefusalHandler(refusal)])
        return Value(channel: channel, outcome: channel.eventLoop.makeSucceededFuture(.refused))
    }

    /// - Parameter handlers: Those that see requests as Hummingbird does.
    private func serveHTTP(
        on channel: any Channel,
        _ handlers: [any ChannelHandler]
    ) throws -> NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart> {
        try channel.pipeline.syncOperations.addHandlers([HTTP1ToHTTPServerCodec(secure: tls != nil)] + handlers)
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
        case .http2(let connection):
            await connection.serve { await handleHTTP(asyncChannel: $0, logger: logger) }
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
