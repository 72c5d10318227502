import Media
import Wire

/// One established connection to the relay: HELLO was accepted.
///
/// The caller's thread reads; a thread of the link writes, and sends a heartbeat at the relay's interval.
final class RelayLink: Sendable {
    private struct State: Sendable {
        var queue: SendQueue
        var nextHeartbeat: UInt64
        var isClosing = false
    }

    private static let readSize = 64 << 10

    private let socket: LinkSocket
    private let stop: Event
    private let state: Monitor<State>

    /// Connects and says HELLO.
    ///
    /// - Parameters:
    ///   - timeout: How long the relay may take to answer, ns.
    ///   - stop: Ends every wait.
    init(
        host: String,
        port: UInt16,
        hello: Hello,
        timeout: UInt64,
        stop: Event,
        decoder: inout PacketDecoder
    ) throws(LinkError) {
        let deadline = MonotonicClock.now + timeout
        let welcome: Welcome
        do throws(LinkSocket.Failure) {
            socket = try LinkSocket(host: host, port: port, until: deadline, stop: stop)
            try socket.write(Packet.hello(hello).encoded(), stop: stop)
        } catch {
            throw .connection(error)
        }
        switch try Self.nextPacket(from: socket, &decoder, until: deadline, stop: stop) {
        case .welcome(let body): welcome = body
        case .reject(let body): throw .rejected(body)
        case let packet: throw .unexpected(packet.type)
        }
        self.stop = stop
        heartbeatInterval = .milliseconds(min(max(welcome.heartbeatInterval, 10), 60_000))
        state = Monitor(
            State(
                queue: SendQueue(maximumMedia: min(max(welcome.maximumQueuedMedia, 1), 60_000)),
                nextHeartbeat: MonotonicClock.now + heartbeatInterval
            )
        )
    }

    private let heartbeatInterval: UInt64

    /// Waits for the relay's next packet.
    func nextPacket(_ decoder: inout PacketDecoder) throws(LinkError) -> Packet {
        try Self.nextPacket(from: socket, &decoder, until: nil, stop: stop)
    }

    /// Queues a control packet.
    func send(_ packet: Packet) {
        state.update { $0.queue.append(packet) }
    }

    /// Queues an access unit. Returns false when the session lost pictures and needs a keyframe.
    func send(_ accessUnit: AccessUnit, session: SessionID) -> Bool {
        state.update { $0.queue.append(accessUnit, session: session) }
    }

    /// Forgets what the link remembers of a session that was removed.
    func forget(_ session: SessionID) {
        state.withLock { $0.queue.forget(session) }
    }

    /// Writes what is queued until the link is closed or breaks; calls `heartbeat` when one is due.
    func writeLoop(heartbeat: (_ queuedBytes: Int, _ drops: [SessionID: UInt64]) -> Heartbeat) {
        while let work = nextWork() {
            var pieces = work.pieces
            if let (queuedBytes, drops) = work.heartbeatDue {
                pieces.append(Packet.heartbeat(heartbeat(queuedBytes, drops)).encoded())
            }
            do {
                for piece in pieces { try socket.write(piece, stop: stop) }
            } catch {
                // The reading side sees the end too and says so.
                return close()
            }
        }
    }

    /// Ends the link; both loops return.
    func close() {
        state.update { $0.isClosing = true }
        socket.shutDown()
    }

    private struct Work {
        var pieces: [[UInt8]]
        var heartbeatDue: (queuedBytes: Int, drops: [SessionID: UInt64])?
    }

    /// Nil when the link is closing.
    private func nextWork() -> Work? {
        state.wait { state in
            if state.isClosing { return .done(nil) }
            let now = MonotonicClock.now
            guard now < state.nextHeartbeat else {
                state.nextHeartbeat = now + heartbeatInterval
                let due = (state.queue.byteCount, state.queue.drops)
                return .done(Work(pieces: state.queue.takeAll(), heartbeatDue: due))
            }
            if state.queue.isEmpty { return .wait(until: state.nextHeartbeat) }
            return .done(Work(pieces: state.queue.takeAll()))
        }
    }

    private static func nextPacket(
        from socket: LinkSocket,
        _ decoder: inout PacketDecoder,
        until deadline: UInt64?,
        stop: Event
    ) throws(LinkError) -> Packet {
        while true {
            do {
                if let packet = try decoder.next() { return packet }
            } catch {
                throw .protocolError(error)
            }
            do {
                decoder.append(try socket.read(limit: readSize, until: deadline, stop: stop))
            } catch {
                throw .connection(error)
            }
        }
    }
}

/// Why there is no link to the relay, or no more.
enum LinkError: Error, CustomStringConvertible {
    case connection(LinkSocket.Failure)
    case protocolError(WireError)
    case rejected(Reject)
    case unexpected(PacketType)

    var description: String {
        switch self {
        case .connection(let failure): failure.description
        case .protocolError(let error): error.description
        case .rejected(let reject): "the relay refused the agent: \(reject.reason) (\(reject.code.rawValue))"
        case .unexpected(let type): "the relay answered HELLO with \(type)"
        }
    }
}
