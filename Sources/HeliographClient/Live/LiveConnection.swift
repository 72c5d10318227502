import Access
import FoundationEssentials
import HeliographAPI
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket
import Program
import Synchronization

/// One connection to a session's WebSocket; docs/reference/websocket.md.
final class LiveConnection: Sendable {
    /// The longest picture that an agent may send, and its head.
    private static let longestMessage = 17 << 20
    /// How long the relay may say nothing. It pings every 5 s.
    private static let silence = TimeAmount.seconds(15)

    private enum Upgrade: Sendable {
        case done(LiveConnection)
        case refused(EventLoopFuture<RelayError>)
    }

    private let channel: any Channel
    private let handler: NIOLoopBound<LiveHandler>
    /// Why it has ended.
    private let ending: EventLoopFuture<Reconnection.Loss>

    private init(_ channel: any Channel, _ handler: LiveHandler) {
        self.channel = channel
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        ending = handler.ending.futureResult
    }

    /// Connects.
    ///
    /// - Parameter receive: Gets the messages, and when each came in ns, on a thread of the connection. It must not
    ///   wait.
    static func open(
        _ place: LivePlace,
        _ receive: @escaping @Sendable (LiveMessage, _ now: UInt64) -> Void
    ) async throws(RelayError) -> LiveConnection {
        let attempt = Attempt()
        let upgrade: Upgrade
        do {
            upgrade = try await withTaskCancellationHandler {
                try await connect(place, attempt, receive)
            } onCancel: {
                attempt.end(because: RelayError(.cancelled, "the task was cancelled"))
            }
        } catch {
            throw attempt.reason ?? error as? RelayError ?? RelayError(ofConnecting: error, to: place.target.url)
        }
        switch upgrade {
        case .done(let connection): return connection
        case .refused(let future):
            throw (try? await future.get()) ?? attempt.reason ?? .unreachable(place.target.url)
        }
    }

    /// A try to connect, which may be given up.
    private final class Attempt: Sendable {
        private let state = Mutex<(channel: (any Channel)?, reason: RelayError?)>((nil, nil))

        /// Why it was given up; `nil` if it was not.
        var reason: RelayError? { state.withLock { $0.reason } }

        /// Notes its channel.
        func begins(_ channel: any Channel) {
            let isOver = state.withLock { state in
                state.channel = channel
                return state.reason != nil
            }
            if isOver { channel.close(promise: nil) }
        }

        func end(because reason: RelayError) {
            let channel = state.withLock { state in
                state.reason = state.reason ?? reason
                return state.channel
            }
            channel?.close(promise: nil)
        }
    }

    /// Sends a message, and returns when the connection has taken it.
    func send(_ opcode: WebSocketOpcode, _ bytes: [UInt8]) async throws(RelayError) {
        do {
            try await channel.writeAndFlush(LiveHandler.frame(opcode, ByteBuffer(bytes: bytes))).get()
        } catch {
            throw RelayError(.brokenOff, "the connection to the relay was lost")
        }
    }

    /// Sends a message that is left out if the connection is lost.
    func post(_ opcode: WebSocketOpcode, _ bytes: [UInt8]) {
        channel.writeAndFlush(LiveHandler.frame(opcode, ByteBuffer(bytes: bytes)), promise: nil)
    }

    /// Begins or ends the messages that say each half second that the program is there.
    func setBeating(_ isOn: Bool) {
        channel.eventLoop.execute { [handler] in handler.value.setBeating(isOn) }
    }

    /// Returns why it has ended, once it has.
    func end() async -> Reconnection.Loss { (try? await ending.get()) ?? .lost }

    /// Tells the relay, and closes it.
    func close() {
        post(.connectionClose, [0x03, 0xE8])
        channel.close(promise: nil)
    }

    // MARK: - Connecting

    private static func connect(
        _ place: LivePlace,
        _ attempt: Attempt,
        _ receive: @escaping @Sendable (LiveMessage, _ now: UInt64) -> Void
    ) async throws -> Upgrade {
        let target = place.target
        let url = URL(string: target.url)
        guard let (host, port) = target.place else { throw RelayError.unreachable(target.url) }
        var headers = HTTPHeaders([("Host", Authority.text(host, url?.port))])
        if let key = target.key { headers.add(name: "Authorization", value: "Bearer \(key.text)") }
        let uri = (url?.path() ?? "") + place.path
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: uri, headers: headers)
        var configuration = RelayTLS.configuration(for: target)
        // The fingerprint says who it is, whatever names the certificate has.
        if target.pinned != nil { configuration.certificateVerification = .noHostnameVerification }
        let tls = try target.isSecure ? NIOSSLContext(configuration: configuration) : nil
        let judge = target.pinned.map { pinned in
            { @Sendable (found: Fingerprint) in
                guard found != pinned else { return true }
                attempt.end(because: .otherCertificate(found, of: target.url))
                return false
            }
        }
        return try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connectTimeout(LivePlace.answerTime)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .connect(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    attempt.begins(channel)
                    if let tls { try RelayTLS.add(to: channel, host, by: tls, isTrusted: judge) }
                    return try self.upgrade(channel, head, place, attempt, receive)
                }
            }.get()
    }

    /// Asks for the upgrade. A relay that does not answer in time is disconnected.
    private static func upgrade(
        _ channel: any Channel,
        _ head: HTTPRequestHead,
        _ place: LivePlace,
        _ attempt: Attempt,
        _ receive: @escaping @Sendable (LiveMessage, _ now: UInt64) -> Void
    ) throws -> EventLoopFuture<Upgrade> {
        let late = RelayError.late(place.target.url)
        let deadline = channel.eventLoop.scheduleTask(in: place.answerTime) { attempt.end(because: late) }
        let upgrader = NIOTypedWebSocketClientUpgrader<Upgrade>(maxFrameSize: longestMessage) { channel, _ in
            channel.eventLoop.makeCompletedFuture {
                deadline.cancel()
                let handler = LiveHandler(channel.eventLoop.makePromise(), receive)
                try channel.pipeline.syncOperations.addHandlers([
                    IdleStateHandler(readTimeout: silence),
                    NIOWebSocketFrameAggregator(
                        minNonFinalFragmentSize: 1,
                        maxAccumulatedFrameCount: 1024,
                        maxAccumulatedFrameSize: longestMessage
                    ),
                    handler,
                ])
                return .done(LiveConnection(channel, handler))
            }
        }
        return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
            configuration: NIOUpgradableHTTPClientPipelineConfiguration(
                upgradeConfiguration: NIOTypedHTTPClientUpgradeConfiguration(
                    upgradeRequestHead: head,
                    upgraders: [upgrader]
                ) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let reader = RefusalReader(channel.eventLoop.makePromise(), place)
                        try channel.pipeline.syncOperations.addHandler(reader)
                        return .refused(reader.refusal.futureResult)
                    }
                }
            )
        )
    }
}

/// Reads the frames of a session's WebSocket.
private final class LiveHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    /// Between two signs that the program is there.
    private static let beat = TimeAmount.milliseconds(500)

    /// Why the connection has ended.
    let ending: EventLoopPromise<Reconnection.Loss>
    private let receive: @Sendable (LiveMessage, _ now: UInt64) -> Void
    private var context: ChannelHandlerContext?
    private var format: PictureFormat?
    private var geometry: UInt32 = 0
    private var closing: Reconnection.Loss?
    private var beats: RepeatedTask?

    init(
        _ ending: EventLoopPromise<Reconnection.Loss>,
        _ receive: @escaping @Sendable (LiveMessage, _ now: UInt64) -> Void
    ) {
        (self.ending, self.receive) = (ending, receive)
    }

    static func frame(_ opcode: WebSocketOpcode, _ data: ByteBuffer) -> WebSocketFrame {
        WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        setBeating(false)
        self.context = nil
        ending.succeed(closing ?? .lost)
    }

    func setBeating(_ isOn: Bool) {
        guard isOn, let context else {
            beats?.cancel()
            beats = nil
            return
        }
        guard beats == nil else { return }
        let channel = context.channel
        beats = context.eventLoop.scheduleRepeatedTask(initialDelay: Self.beat, delay: Self.beat) { _ in
            channel.writeAndFlush(Self.frame(.binary, ByteBuffer(bytes: Input.beat)), promise: nil)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let (frame, now) = (unwrapInboundIn(data), NIODeadline.now().uptimeNanoseconds)
        var data = frame.unmaskedData
        switch frame.opcode {
        case .binary:
            let bytes = Array(data.readableBytesView)
            handle(LiveMessage(binary: bytes, format: format, geometry: geometry, received: now), now)
        case .text: handle(LiveMessage(text: Array(data.readableBytesView)), now)
        case .ping: context.writeAndFlush(wrapOutboundOut(Self.frame(.pong, data)), promise: nil)
        case .connectionClose:
            let code = data.readInteger(as: UInt16.self) ?? 1005
            closing = .closed(code: code, reason: String(buffer: data))
            context.writeAndFlush(wrapOutboundOut(Self.frame(.connectionClose, frame.unmaskedData)), promise: nil)
            context.close(promise: nil)
        default: break
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func handle(_ message: LiveMessage, _ now: UInt64) {
        switch message {
        case .format(let format): self.format = format
        case .size(let geometry):
            self.geometry = geometry
            format?.geometry = geometry
        default: break
        }
        receive(message, now)
    }
}

/// Reads a relay's answer that refuses the upgrade.
private final class RefusalReader: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    /// The longest answer, bytes.
    private static let longest = 64 << 10

    let refusal: EventLoopPromise<RelayError>
    private let place: LivePlace
    private var body = ByteBuffer()

    init(_ refusal: EventLoopPromise<RelayError>, _ place: LivePlace) { (self.refusal, self.place) = (refusal, place) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: break
        case .body(let bytes): if body.readableBytes < Self.longest { body.writeImmutableBuffer(bytes) }
        case .end: context.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func handlerRemoved(context: ChannelHandlerContext) {
        let url = place.target.url
        let report = try? Answer<ProblemReport>(status: 0, bytes: body, url: url).report()
        refusal.succeed(report.map { .refused($0, about: place.object) } ?? .unreachable(url))
    }
}
