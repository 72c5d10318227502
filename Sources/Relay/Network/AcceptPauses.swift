import Glibc
import Logging
import NIOCore
import Synchronization

/// How often the relay's listeners could not accept a connection and paused.
final class AcceptPauses: Sendable {
    /// What is listened for.
    enum Listener: String, Sendable, CaseIterable {
        case http, agents, sessions
    }

    private struct State {
        var counts: [Listener: UInt64] = [:]
        var log = LogBudget()
    }

    private let state = Mutex(State())
    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    /// Since the relay started.
    func count(of listener: Listener) -> UInt64 { state.withLock { $0.counts[listener, default: 0] } }

    func count(_ listener: Listener) { state.withLock { $0.counts[listener, default: 0] += 1 } }

    /// The first pause since a connection was accepted.
    func begin(_ listener: Listener, because reason: String) {
        state.withLock {
            $0.log.log(.warning, to: logger, "connections have to wait (\(listener.rawValue)): \(reason)")
        }
    }

    /// A connection was accepted after pauses.
    func end(_ listener: Listener) {
        state.withLock { $0.log.log(.info, to: logger, "connections are accepted again (\(listener.rawValue))") }
    }
}

/// Makes a listening channel pause when there is nothing to accept a connection with, such as a file descriptor.
///
/// Connections that wait keep the listening socket readable, so without the pause NIO calls accept(2) again and again, for nothing.
/// All listeners but the agents' pause before the last descriptors are gone: an agent that is lost can be started again then, and linked.
final class AcceptPauseHandler: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never
    typealias OutboundOut = Never

    /// How long until it tries again.
    private static let length = TimeAmount.milliseconds(250)
    /// What accept(2) may want for and get later. These are the errors that NIO keeps a listening channel open for.
    private static let shortages: Set<CInt> = [EMFILE, ENFILE, ENOBUFS, ENOMEM]

    private let listener: AcceptPauses.Listener
    private let pauses: AcceptPauses
    /// Whether it has paused since a connection was accepted.
    private var hasPaused = false

    init(_ listener: AcceptPauses.Listener, pauses: AcceptPauses) {
        self.listener = listener
        self.pauses = pauses
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if hasPaused { pauses.end(listener) }
        hasPaused = false
        context.fireChannelRead(data)
    }

    /// Before each accept(2) that follows another.
    func read(context: ChannelHandlerContext) {
        guard listener.mayAccept else {
            return pause(context, because: "the last descriptors are kept for agents")
        }
        context.read()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? IOError, Self.shortages.contains(error.errnoCode) else {
            return context.fireErrorCaught(error)
        }
        pause(context, because: "\(error)")
    }

    private func pause(_ context: ChannelHandlerContext, because reason: String) {
        if !hasPaused { pauses.begin(listener, because: reason) }
        hasPaused = true
        // NIO reads on by itself after an error, past every handler: only without auto-read it does not.
        try? context.channel.syncOptions?.setOption(.autoRead, value: false)
        Self.goOn(context.channel, listener, pauses)
    }

    private static func goOn(_ channel: any Channel, _ listener: AcceptPauses.Listener, _ pauses: AcceptPauses) {
        pauses.count(listener)
        channel.eventLoop.scheduleTask(in: length) {
            guard channel.isActive else { return }
            guard listener.mayAccept else { return goOn(channel, listener, pauses) }
            try? channel.syncOptions?.setOption(.autoRead, value: true)
        }
    }
}

extension AcceptPauses.Listener {
    fileprivate var mayAccept: Bool { self == .agents || Descriptors.exceedReserve }
}
