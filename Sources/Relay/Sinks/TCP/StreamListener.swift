import HeliographAPI
import NIOCore
import NIOPosix

/// One of a session's TCP ports.
struct StreamListener: Sendable {
    /// What viewers of the port get.
    enum Content: Sendable {
        case pictures, sound
    }

    /// Most bytes that the kernel holds for one viewer: enough for 100 Mbit/s over 40 ms. More would only add delay for
    /// a slow viewer.
    private static let socketBuffer = 512 << 10
    /// The bytes waiting in user space below which a viewer's socket has room, and above which it is full.
    private static let writeBuffer = ChannelOptions.Types.WriteBufferWaterMark(low: 32 << 10, high: 128 << 10)
    private static let backlog: CInt = 256

    private let channel: any Channel

    var port: Int { channel.localAddress?.port ?? 0 }

    /// Opens the port.
    ///
    /// - Throws: `IOError` if `port` is not available.
    init(
        host: String,
        port: Int,
        of session: Session,
        content: Content,
        limits: ViewerQueue.Limits,
        entrance: StreamEntrance?,
        connections: Connections,
        pauses: AcceptPauses
    ) async throws {
        let framing = await session.request.framing
        let device = await session.device.name
        channel = try await ServerBootstrap(group: MediaLoop.eventLoop)
            .serverChannelOption(.backlog, value: Self.backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // One connection at a time, so that the limit on file descriptors is checked between them.
            .serverChannelOption(.maxMessagesPerRead, value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptPauseHandler(.sessions, pauses: pauses))
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.socketOption(.so_sndbuf), value: Self.socketBuffer)
            .childChannelOption(.writeBufferWaterMark, value: Self.writeBuffer)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try connections.admit(channel)
                    let viewer: any PortViewer = MediaLoop.assumeIsolated {
                        switch content {
                        case .pictures:
                            TCPViewer(
                                channel: channel,
                                framing: framing,
                                limits: limits,
                                stopwatch: .init(session.handoverLatency)
                            )
                        case .sound: TCPSoundViewer(channel: channel)
                        }
                    }
                    let handler = PortViewerHandler(viewer: viewer, session: session)
                    let operations = channel.pipeline.syncOperations
                    guard let entrance else { return try operations.addHandler(handler) }
                    try operations.addHandlers(try entrance.handlers(for: channel, of: device, before: handler))
                }
            }
            .bind(host: host, port: port)
            .get()
    }

    func close() async {
        try? await channel.close()
    }
}
