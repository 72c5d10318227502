import Access
import FoundationEssentials
import HeliographAPI
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket

/// A session's WebSocket, docs/reference/websocket.md, of which only events are read.
struct SessionSocket: Sendable {
    /// What the relay sends.
    enum Message: Sendable {
        case event(JSONValue)
        /// The relay's Close, with its code.
        case close(UInt16)
    }

    /// The longest picture that an agent may send, and its head.
    private static let longestFrame = 17 << 20
    private static let connectTime = TimeAmount.seconds(10)

    private enum Upgrade: Sendable {
        case done(NIOAsyncChannel<WebSocketFrame, WebSocketFrame>)
        case refused
    }

    fileprivate let outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>

    /// Connects to a session, and runs `body` with its events until it returns.
    ///
    /// - Throws: ``CommandError``
    static func with(
        _ session: UInt32,
        at address: RelayAddress,
        _ body: (SessionSocket, AsyncStream<Message>) async throws -> Void
    ) async throws {
        guard case .done(let channel) = try await connect(to: session, at: address) else {
            throw CommandError.failed(
                "the relay at \(address.url) refuses another viewer of session \(session): it is full, or has just ended"
            )
        }
        try await channel.executeThenClose { inbound, outbound in
            let socket = SessionSocket(outbound: outbound)
            let (messages, continuation) = AsyncStream.makeStream(of: Message.self)
            let reading = Task {
                defer { continuation.finish() }
                for try await frame in inbound { try await socket.received(frame, continuation) }
            }
            defer { reading.cancel() }
            try await body(socket, messages)
            _ = try? await outbound.write(Self.frame(.connectionClose, ByteBuffer(integer: UInt16(1000))))
        }
    }

    /// Sends a binary message.
    func send(_ bytes: [UInt8]) async throws {
        do {
            try await outbound.write(Self.frame(.binary, ByteBuffer(bytes: bytes)))
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw CommandError.brokenOff("the connection to the relay was lost")
        }
    }

    private func received(_ frame: WebSocketFrame, _ events: AsyncStream<Message>.Continuation) async throws {
        switch frame.opcode {
        case .ping: try await outbound.write(Self.frame(.pong, frame.unmaskedData))
        case .text:
            guard let event = try? JSONValue(parsing: frame.unmaskedData.readableBytesView) else { return }
            events.yield(.event(event))
        case .connectionClose:
            var data = frame.unmaskedData
            events.yield(.close(data.readInteger() ?? 1005))
        // Pictures.
        default: break
        }
    }

    private static func frame(_ opcode: WebSocketOpcode, _ data: ByteBuffer) -> WebSocketFrame {
        WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
    }

    // MARK: - Connecting

    private static func connect(to session: UInt32, at address: RelayAddress) async throws -> Upgrade {
        let target = try address.target()
        let url = URL(string: target.url)
        let path = (url?.path() ?? "") + CallPlace.session(session).path(of: Routes.watchOverWebSocket.route)
        guard let host = url?.host() else { throw CommandError.unreachable(target.url) }
        let port = url?.port ?? (target.isSecure ? 443 : 80)
        var headers = HTTPHeaders([("Host", authority(host, url?.port))])
        if let key = target.key { headers.add(name: "Authorization", value: "Bearer \(key.text)") }
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: headers)
        let tls = try target.isSecure ? NIOSSLContext(configuration: .makeClientConfiguration()) : nil
        let pinned = target.pinned
        do {
            return try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connectTimeout(connectTime)
                .connect(host: host, port: port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        if let tls { try protect(channel, host, by: tls, pinned) }
                        return try upgrade(channel, head)
                    }
                }.get()
        } catch let error as CommandError {
            throw error
        } catch is NIOSSLError {
            throw CommandError.failed(
                "the certificate of the relay at \(target.url) is not trusted, or the port has no TLS: compare its fingerprint with the relay's log, and pass it with --fingerprint"
            )
        } catch {
            throw CommandError.unreachable(target.url)
        }
    }

    private static func authority(_ host: String, _ port: Int?) -> String {
        let host = host.contains(":") ? "[\(host)]" : host
        return port.map { "\(host):\($0)" } ?? host
    }

    /// Adds TLS. A pinned certificate is checked before the request is sent.
    private static func protect(
        _ channel: any Channel,
        _ host: String,
        by context: NIOSSLContext,
        _ pinned: Fingerprint?
    ) throws {
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        let name = isAddress ? nil : host
        guard let pinned else {
            let handler = try NIOSSLClientHandler(context: context, serverHostname: name)
            return try channel.pipeline.syncOperations.addHandler(handler)
        }
        let handler = try NIOSSLClientHandler(
            context: context,
            serverHostname: name,
            customVerificationCallback: { certificates, promise in
                let found = certificates.first.flatMap { try? Fingerprint(ofCertificate: $0.toDERBytes()) }
                promise.succeed(found == pinned ? .certificateVerified : .failed)
            }
        )
        try channel.pipeline.syncOperations.addHandler(handler)
    }

    private static func upgrade(
        _ channel: any Channel,
        _ head: HTTPRequestHead
    ) throws -> EventLoopFuture<Upgrade> {
        let upgrader = NIOTypedWebSocketClientUpgrader<Upgrade>(maxFrameSize: longestFrame) { channel, _ in
            channel.eventLoop.makeCompletedFuture {
                .done(try NIOAsyncChannel(wrappingChannelSynchronously: channel))
            }
        }
        return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
            configuration: NIOUpgradableHTTPClientPipelineConfiguration(
                upgradeConfiguration: NIOTypedHTTPClientUpgradeConfiguration(
                    upgradeRequestHead: head,
                    upgraders: [upgrader]
                ) { channel in channel.close().map { _ in Upgrade.refused } }
            )
        )
    }
}
