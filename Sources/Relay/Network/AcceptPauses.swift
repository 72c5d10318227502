import Glibc
import Logging
import NIOCore
import Synchronization

/// How often the relay's listeners could not accept a connection and paused.
final class AcceptPauses: Sendable {
    /// The kind of listener.
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

    /// Returns the number of pauses since the relay started.
    func count(of listener: Listener) -> UInt64 { state.withLock { $0.counts[listener, default: 0] } }

    func count(_ listener: Listener) { state.withLock { $0.counts[listener, default: 0] += 1 } }

    /// Records the first pause since a connection was accepted.
    func begin(_ listener: Listener, because reason: String) {
        state.withLock {
            $0.log.log(.warning, to: logger, "connections have to wait (\(listener.rawValue)): \(reason)")
        }
    }

    /// Records that a connection was accepted after pauses.
    func end(_ listener: Listener) {
        state.withLock { $0.log.log(.info, to: logger, "connections are accepted again (\(listener.rawValue))") }
    }
}

/// Pauses a listening channel while it lacks resources to accept a connection, such as a file descriptor.
///
/// Waiting connections keep the listening socket readable, so without the pause NIO would call accept(2) in a loop. All
/// listeners except the agents' pause before the last descriptors are gone, so that a lost agent can be restarted and
/// linked.
final class AcceptPauseHandler: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never
    typealias OutboundOut = Never

    /// The length of a pause.
    private static let length = TimeAmount.milliseconds(250)
    /// The errors of accept(2) for resources that may become available. NIO keeps a listening channel open after them.
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

    /// Checks the resources before each accept(2) that follows another.
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
        // After an error NIO reads on without asking the handlers, unless auto-read is off.
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
