import NIOCore

/// Lets the peer's answer to the relay's close_notify end the connection. It is right behind TLS.
///
/// A client may half-close the connection, and reads the answer to its last request. While that is so, NIOSSL ignores
/// the peer's close_notify, and closes only five seconds later.
final class CloseNotifyHandler: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode == .all { try? context.channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: false) }
        context.close(mode: mode, promise: promise)
    }
}
