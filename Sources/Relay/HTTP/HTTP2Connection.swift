import HummingbirdCore
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOHTTPTypes

/// A connection of HTTP/2 (RFC 9113), which TLS has agreed on. Each request has a stream, in which handlers see it as
/// one of HTTP/1.1.
struct HTTP2Connection: Sendable {
    typealias Stream = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    /// The name in TLS (RFC 9113, section 3.2).
    static let name = "h2"
    /// Most requests at once. Others wait at the client.
    private static let mostStreams = 100
    /// The most bytes of a request's head. It is also NIO's limit until the client has acknowledged the settings.
    private static let longestHead = 16 << 10
    /// Most frames in 30 s that cost the relay more than the client, such as PING and RST_STREAM.
    private static let mostFrames = 3000

    private let channel: any Channel
    private let multiplexer: NIOHTTP2Handler.AsyncStreamMultiplexer<Stream>

    /// Adds the handlers of HTTP/2 to a connection.
    ///
    /// - Parameters:
    ///   - lifetime: The connection's last handler.
    ///   - open: Adds a stream's handlers, after one that turns its frames into messages of HTTP/1.1.
    init(
        on channel: any Channel,
        lifetime: NIOLoopBound<HTTP2LifetimeHandler>,
        open: @escaping @Sendable (any Channel) throws -> Stream
    ) throws {
        self.channel = channel
        var configuration = NIOHTTP2Handler.Configuration()
        configuration.connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: Self.mostStreams),
            HTTP2Setting(parameter: .maxHeaderListSize, value: Self.longestHead),
        ]
        // Some clients send a PRIORITY frame with each request, and pages cancel many at once when they are left.
        configuration.connection.controlFrameRateLimit.maximumCount = Self.mostFrames
        configuration.stream.streamResetFrameRateLimit.maximumCount = Self.mostFrames
        // As much as a connection of HTTP/1.1.
        let marks = ChannelOptions.Types.WriteBufferWaterMark(low: 32 << 10, high: 64 << 10)
        configuration.stream.outboundBufferSizeHighWatermark = marks.high
        configuration.stream.outboundBufferSizeLowWatermark = marks.low
        let operations = channel.pipeline.syncOperations
        multiplexer = try operations.configureAsyncHTTP2Pipeline(
            mode: .server,
            streamDelegate: HTTP2LifetimeHandler.Streams(handler: lifetime),
            frameDelegate: lifetime.value,
            configuration: configuration
        ) { stream in
            stream.eventLoop.makeCompletedFuture {
                try stream.pipeline.syncOperations.addHandler(HTTP2FramePayloadToHTTP1ServerCodec())
                return try open(stream)
            }
        }
        try operations.addHandler(lifetime.value)
    }

    /// Answers requests until the connection closes. Cancelling closes it.
    func serve(_ answer: @escaping @Sendable (Stream) async -> Void) async {
        // A task of its own, because the streams that a cancelled loop does not take are never finished, and a writer
        // that is not finished traps.
        let answers = Task {
            await withDiscardingTaskGroup { group in
                do {
                    for try await stream in multiplexer.inbound { group.addTask { await answer(stream) } }
                } catch {
                    // The connection has closed; its handlers know why.
                }
                channel.close(promise: nil)
                group.cancelAll()
            }
        }
        await withTaskCancellationHandler {
            await answers.value
        } onCancel: {
            channel.close(promise: nil)
        }
    }
}
