import NIOCore
import NIOPosix
import Synchronization
import TestSupport

/// A TCP client that keeps what it receives until a test asks for it.
package final class ByteClient: Sendable {
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let chunks: AsyncStream<[UInt8]>.Continuation

        init(chunks: AsyncStream<[UInt8]>.Continuation) { self.chunks = chunks }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            chunks.yield(Array(unwrapInboundIn(data).readableBytesView))
        }

        func channelInactive(context: ChannelHandlerContext) { chunks.finish() }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    /// How long a peer may send. A test that still reads then waits for something that did not come.
    private static let longest = Duration.seconds(600)

    private let end = ContinuousClock.now + longest
    private let channel: any Channel
    private let chunks: AsyncStream<[UInt8]>
    /// What came with the bytes that were read last.
    private let rest = Mutex<[UInt8]>([])

    /// - Parameters:
    ///   - source: The address that it connects from, such as 127.0.0.2; `nil` for the default.
    ///   - autoRead: `false` for a client that reads nothing until ``startReading()``.
    package init(host: String = "127.0.0.1", port: Int, from source: String? = nil, autoRead: Bool = true) async throws
    {
        let (chunks, continuation) = AsyncStream<[UInt8]>.makeStream()
        self.chunks = chunks
        var bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        if let source { bootstrap = bootstrap.bind(to: try SocketAddress(ipAddress: source, port: 0)) }
        channel =
            try await bootstrap
            .channelOption(.autoRead, value: autoRead)
            .channelOption(.socketOption(.so_rcvbuf), value: autoRead ? 1 << 20 : 1 << 16)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(chunks: continuation))
                }
            }
            .connect(host: host, port: port)
            .get()
    }

    package func send(_ bytes: [UInt8]) async throws { try await channel.writeAndFlush(ByteBuffer(bytes: bytes)) }

    package func startReading() async throws { try await channel.setOption(.autoRead, value: true).get() }

    /// Reads nothing until ``startReading()``.
    package func pause() async throws { try await channel.setOption(.autoRead, value: false).get() }

    package func close() async throws { try await channel.close() }

    /// Closes only the sending side.
    package func closeOutput() async throws { try await channel.close(mode: .output) }

    /// Returns the next bytes, or `nil` if the peer has closed.
    package func next() async throws -> [UInt8]? {
        let kept = rest.withLock { rest in
            defer { rest = [] }
            return rest
        }
        guard kept.isEmpty else { return kept }
        guard ContinuousClock.now < end else {
            throw NeverCame(description: "The peer has sent for \(Self.longest), but not what the test waits for")
        }
        return try await within("bytes from the peer") { [chunks] in
            var iterator = chunks.makeAsyncIterator()
            return await iterator.next()
        }
    }

    /// Reads `count` bytes, or fewer if the peer closes first.
    package func read(_ count: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count, let more = try await next() { bytes += more }
        guard bytes.count > count else { return bytes }
        rest.withLock { $0 = Array(bytes[count...]) }
        return Array(bytes[..<count])
    }

    /// Reads until the peer closes.
    package func readToEnd() async throws -> [UInt8] { try await read(.max) }
}
