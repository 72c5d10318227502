import Access
import HeliographAPI
import NIOCore
import NIOPosix

/// Reads an API key from a connection's first line, and lets the connection on if the key is valid and for the device.
///
/// It closes all other connections without a message, because the stream has no place for one.
final class KeyLineHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let access: AccessControl
    private let device: String
    private let timeout: TimeAmount
    private let next: PortViewerHandler
    /// Called once, when the connection has shown its key or is gone.
    private var settled: (() -> Void)?
    private var line: [UInt8] = []
    /// Whether the line is complete. Bytes that follow are ignored.
    private var isWhole = false
    private var deadline: Scheduled<Void>?

    /// - Parameter device: The device of the port's session.
    init(
        access: AccessControl,
        device: String,
        timeout: TimeAmount,
        next: PortViewerHandler,
        settled: @escaping () -> Void
    ) {
        self.access = access
        self.device = device
        self.timeout = timeout
        self.next = next
        self.settled = settled
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { settle() }

    func channelInactive(context: ChannelHandlerContext) {
        settle()
        context.fireChannelInactive()
    }

    /// Holds the event back, because the next handler joins its session on it.
    func channelActive(context: ChannelHandlerContext) {}

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard settled != nil, !isWhole else { return }
        for byte in unwrapInboundIn(data).readableBytesView {
            guard byte != UInt8(ascii: "\n") else { return judge(context) }
            line.append(byte)
            // A key, plus the carriage return that some clients send before the line feed.
            guard line.count <= APIKey.maximumLength + 1 else { return close(context) }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    /// Checks the key on another thread, because this one is the media loop.
    private func judge(_ context: ChannelHandlerContext) {
        isWhole = true
        let loopBound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        NIOThreadPool.singleton.runIfActive(eventLoop: context.eventLoop) { [access] in access.refresh() }
            .whenComplete { _ in
                let (handler, context) = loopBound.value
                handler.admit(context)
            }
    }

    private func admit(_ context: ChannelHandlerContext) {
        // The connection may be gone, or may have exceeded its time.
        guard settled != nil else { return }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        // A client that has paired sends an empty line.
        let text = String(decoding: line, as: UTF8.self)
        let credential = text.isEmpty ? .nothing : APIKey(text).map(Credential.key) ?? .malformed
        guard
            let caller = try? access.admit(
                credential,
                to: .viewer,
                from: Peer(address: context.channel.remoteAddress, certificate: context.channel.shownCertificate),
                isRefreshed: true
            ),
            caller.key != nil, (try? access.requireReach(device, by: caller)) != nil,
            (try? context.pipeline.syncOperations.addHandler(next)) != nil
        else { return close(context) }
        access.hold(context.channel, by: caller)
        access.releaseAtEnd(of: context.channel)
        settle()
        context.fireChannelActive()
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    private func close(_ context: ChannelHandlerContext) {
        settle()
        context.close(promise: nil)
    }

    private func settle() {
        deadline?.cancel()
        settled?()
        settled = nil
    }
}
