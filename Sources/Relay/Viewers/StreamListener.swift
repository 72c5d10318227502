import NIOCore
import NIOPosix

/// A session's TCP port.
struct StreamListener: Sendable {
    /// What the kernel may hold for one viewer, bytes: enough for 100 Mbit/s over 40 ms. More would only add to a slow viewer's delay.
    private static let socketBuffer = 512 << 10
    /// Bytes that wait in user space below and above which a viewer's socket has room and is full.
    private static let writeBuffer = ChannelOptions.Types.WriteBufferWaterMark(low: 32 << 10, high: 128 << 10)
    private static let backlog: CInt = 256
    private static let host = "127.0.0.1"

    private let channel: any Channel

    var port: Int { channel.localAddress?.port ?? 0 }

    /// - Throws: `IOError` when `port` cannot be had.
    init(port: Int, session: Session, limits: ViewerQueue.Limits) async throws {
        let framing = await session.request.framing
        channel = try await ServerBootstrap(group: MediaLoop.eventLoop)
            .serverChannelOption(.backlog, value: Self.backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.socketOption(.so_sndbuf), value: Self.socketBuffer)
            .childChannelOption(.writeBufferWaterMark, value: Self.writeBuffer)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let viewer = MediaLoop.assumeIsolated {
                        TCPViewer(channel: channel, framing: framing, limits: limits)
                    }
                    try channel.pipeline.syncOperations.addHandler(TCPViewerHandler(viewer: viewer, session: session))
                }
            }
            .bind(host: Self.host, port: port)
            .get()
    }

    func close() async {
        try? await channel.close()
    }
}
