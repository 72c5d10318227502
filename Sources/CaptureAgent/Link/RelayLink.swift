package import Media
package import Wire

/// An established connection to the relay: the relay has accepted HELLO.
///
/// The caller's thread reads. The thread that sends an access unit writes as much of it as the connection accepts at
/// once, because waking another thread for each unit would cost more than the writing. The link's own thread writes the
/// rest, control packets, and a heartbeat at the relay's interval.
package final class RelayLink: Sendable {
    private struct State: Sendable {
        var queue: SendQueue
        /// Reusable memory for the next picture's packet. The writing thread takes it meanwhile.
        var packet: [UInt8] = []
        var nextHeartbeat: UInt64
        /// Whether a thread is writing. Other threads leave their packets to it.
        var isWriting = false
        /// Whether the link's thread is waiting for a sender to finish writing.
        var isThreadWaiting = false
        var isClosing = false
    }

    private static let readSize = 64 << 10

    private let socket: LinkSocket
    private let stop: Event
    private let state: Monitor<State>

    /// Connects and sends HELLO.
    ///
    /// - Parameters:
    ///   - timeout: How long the relay may take to answer, in ns.
    ///   - stop: Ends every wait.
    package init(
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
        takesRest = welcome.takesRest ?? false
        takesUnchanged = welcome.takesUnchanged ?? false
        takesInputs = welcome.takesInputs ?? false
        takesTracks = welcome.takesTracks ?? false
        takesAAC = welcome.takesAAC ?? false
        heartbeatInterval = .milliseconds(min(max(welcome.heartbeatInterval, 10), 60_000))
        state = Monitor(
            State(
                queue: SendQueue(maximumMedia: min(max(welcome.maximumQueuedMedia, 1), 60_000)),
                nextHeartbeat: MonotonicClock.now + heartbeatInterval
            )
        )
    }

    private let heartbeatInterval: UInt64
    /// Whether the relay makes the repeats of sessions that rest.
    let takesRest: Bool
    /// Whether the relay accepts what the desktop offers for input, and the geometry of pictures.
    let takesInputs: Bool
    /// Whether the relay accepts the device's sound.
    let takesTracks: Bool
    /// Whether the relay accepts it as AAC, too.
    let takesAAC: Bool
    /// Whether the relay remembers the figures of sessions.
    private let takesUnchanged: Bool

    /// Waits for the relay's next packet.
    func nextPacket(_ decoder: inout PacketDecoder) throws(LinkError) -> Packet {
        try Self.nextPacket(from: socket, &decoder, until: nil, stop: stop)
    }

    /// Queues a control packet.
    func send(_ packet: Packet) {
        // Before the lock, because a snapshot is large and encoder threads need the lock for their pictures.
        let bytes = packet.encoded()
        state.update { $0.queue.append(control: bytes) }
    }

    /// Sends or queues an access unit.
    ///
    /// - Returns: `false` if the session lost pictures and needs a keyframe.
    package func send(_ accessUnit: AccessUnit, session: SessionID) -> Bool {
        var accessUnit = accessUnit
        if !takesInputs { accessUnit.geometry = 0 }
        let memory = state.withLock { state -> [UInt8]? in
            // If the connection accepted no more, the link's thread waits for it.
            guard !state.isWriting, state.queue.lets(accessUnit, of: session) else { return nil }
            state.isWriting = true
            return exchange(&state.packet, with: [])
        }
        if var packet = memory {
            Packet.accessUnit(session, accessUnit).encode(into: &packet)
            writeAvailable(packet)
            return true
        }
        let (isGoingOn, isThreadNeeded) = state.withLock { state in
            // The writing thread sends the queue afterwards.
            (state.queue.append(accessUnit, session: session), !state.isWriting)
        }
        if isThreadNeeded { state.wake() }
        return isGoingOn
    }

    /// Writes as much of a picture's packet as the connection accepts at once, then ends this thread's writing.
    private func writeAvailable(_ packet: consuming [UInt8]) {
        // If the connection is broken, the link's thread gets the same error and closes it.
        let sent = (try? socket.writeAvailable(packet[...])) ?? 0
        let isThreadNeeded = state.withLock { state in
            state.isWriting = false
            if sent < packet.count { state.queue.putBack(Array(packet[sent...])) }
            state.packet = packet
            return !state.queue.isEmpty || state.isThreadWaiting
        }
        if isThreadNeeded { state.wake() }
    }

    /// Forgets the queue entries of a session that was removed.
    func forget(_ session: SessionID) {
        state.withLock { $0.queue.forget(session) }
    }

    /// Writes queued packets until the link is closed or breaks. Calls `heartbeat` whenever one is due.
    package func writeLoop(heartbeat: (_ queuedBytes: Int, _ drops: [SessionID: UInt64]) -> Heartbeat) {
        var told = HeartbeatDelta()
        while let work = nextWork() {
            var pieces = work.pieces
            if let (queuedBytes, drops) = work.heartbeatDue {
                let heartbeat = heartbeat(queuedBytes, drops)
                pieces.append(Packet.heartbeat(takesUnchanged ? told.shortened(heartbeat) : heartbeat).encoded())
            }
            do {
                for piece in pieces { try socket.write(piece, stop: stop) }
            } catch {
                // The reading side also sees the end and reports it.
                return close()
            }
            state.withLock { $0.isWriting = false }
        }
    }

    /// Ends the link, so that both loops return.
    package func close() {
        state.update { $0.isClosing = true }
        socket.shutDown()
    }

    private struct Work {
        var pieces: [[UInt8]]
        var heartbeatDue: (queuedBytes: Int, drops: [SessionID: UInt64])?
    }

    /// Returns the next work, or `nil` if the link is closing.
    private func nextWork() -> Work? {
        state.wait { state in
            if state.isClosing { return .done(nil) }
            state.isThreadWaiting = state.isWriting
            if state.isWriting { return .wait(until: nil) }
            let now = MonotonicClock.now
            let isHeartbeatDue = now >= state.nextHeartbeat
            if !isHeartbeatDue, state.queue.isEmpty { return .wait(until: state.nextHeartbeat) }
            // Read before anything is taken out: nobody is writing, so this covers everything that waits.
            let figures = (state.queue.byteCount, state.queue.drops)
            if isHeartbeatDue { state.nextHeartbeat = now + heartbeatInterval }
            state.isWriting = true
            return .done(Work(pieces: state.queue.takeAll(), heartbeatDue: isHeartbeatDue ? figures : nil))
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

/// The reason why there is no link to the relay, or why it ended.
package enum LinkError: Error, CustomStringConvertible {
    case connection(LinkSocket.Failure)
    case protocolError(WireError)
    case rejected(Reject)
    case unexpected(PacketType)
    /// The system refuses a resource that the link needs.
    case shortage(ResourceShortage)

    package var description: String {
        switch self {
        case .connection(let failure): failure.description
        case .protocolError(let error): error.description
        case .rejected(let reject): "the relay refused the agent: \(reject.reason) (\(reject.code.rawValue))"
        case .unexpected(let type): "the relay answered HELLO with \(type)"
        case .shortage(let shortage): shortage.description
        }
    }
}
