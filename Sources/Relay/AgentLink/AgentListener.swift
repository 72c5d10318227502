import NIOCore
import NIOPosix
import Wire

/// Accepts agents' connections.
struct AgentListener: Sendable {
    /// Most connections that wait to be accepted.
    private static let backlog: CInt = 64

    /// Reads from one link before the others have their turn, so that an agent that floods its link does not delay the
    /// others.
    private static let readsAtOnce: UInt = 1
    /// The bytes waiting for an agent below which it accepts packets, and above which it counts as not reading. The
    /// sessions of a full device fit, beside one large packet.
    private static let writeBuffer = ChannelOptions.Types.WriteBufferWaterMark(
        low: PacketHeader.maximumLength + (512 << 10),
        high: PacketHeader.maximumLength + (3 << 20)
    )

    private let channel: any Channel

    var port: Int { channel.localAddress?.port ?? 0 }

    /// Opens the listener.
    ///
    /// - Throws: ``RelayStartError``
    init(
        endpoint: Endpoint,
        owner: any AgentLinkOwner,
        policy: LinkStateMachine.Policy,
        pauses: AcceptPauses
    ) async throws {
        let strangers = AgentStrangers()
        // Created early, because it takes descriptors and none may be left when an agent connects.
        _ = AgentLink.reader
        let bootstrap = ServerBootstrap(group: MediaLoop.eventLoop)
            .serverChannelOption(.backlog, value: Self.backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptPauseHandler(.agents, pauses: pauses))
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.maxMessagesPerRead, value: Self.readsAtOnce)
            .childChannelOption(.writeBufferWaterMark, value: Self.writeBuffer)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let link = try MediaLoop.assumeIsolated {
                        try AgentLink(channel: channel, owner: owner, policy: policy, strangers: strangers)
                    }
                    try channel.pipeline.syncOperations.addHandler(AgentLinkHandler(link: link))
                }
            }
        do {
            channel = try await bootstrap.bind(host: endpoint.host, port: endpoint.port).get()
        } catch {
            throw RelayStartError(binding: "the agent link", to: endpoint, error: error)
        }
    }

    func close() async {
        try? await channel.close()
    }
}
