import Media
import NIOCore
import NIOPosix
import Wire

/// The device and role of the agent on a link.
struct AgentIdentity: Sendable {
    let device: String
    let role: AgentRole

    init(_ hello: Hello) { (device, role) = (hello.device, hello.role) }
}

/// The owner of agent links, which gets their packets.
@MediaLoop
protocol AgentLinkOwner: AnyObject, Sendable {
    /// Returns why this agent at the other end of `channel` may not be admitted, or `nil` if it may. It may take a
    /// while, because only this link waits for it.
    func objection(to hello: Hello, on channel: any Channel) async -> Reject?
    func linkRefused(_ reject: Reject)
    func linkAdmitted(_ link: AgentLink, hello: Hello)
    func link(_ link: AgentLink, received packet: Packet, from agent: AgentIdentity)
    func link(
        _ link: AgentLink,
        received unit: EncodedUnit<ByteBuffer>,
        of session: SessionID,
        from agent: AgentIdentity
    )
    func link(_ link: AgentLink, lostBecause loss: LinkLoss, of agent: AgentIdentity)
}

/// One agent's connection. It splits the received bytes into packets, and performs what its state machine decides.
@MediaLoop
final class AgentLink {
    /// Most media of a session that the agent may queue, ms.
    private static let maximumQueuedMedia = 1000
    private static let longestHeartbeat = TimeAmount.seconds(2)
    /// Most heartbeats that wait to be read. An agent sends a few per second.
    private static let mostUnread = 64
    /// Reads all links' heartbeats, one at a time. Nothing else runs on this thread.
    nonisolated static let reader: any EventLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    /// How long a refused peer has to read the reason.
    private static let lingerTime = TimeAmount.seconds(1)

    private let channel: any Channel
    private let owner: any AgentLinkOwner
    private let policy: LinkStateMachine.Policy
    private let strangers: AgentStrangers
    private let isHeard: Bool
    private var machine: LinkStateMachine
    private var decoder = PacketStream<ByteBuffer>(accepting: .agentToRelay)
    /// The number of heartbeats that are being read on the other thread.
    private var unread = 0
    private var timer: Scheduled<Void>?
    /// The agent; `nil` until it is admitted.
    private var agent: AgentIdentity?

    /// Large packets that wait until the one before has left: a WATCH may carry a template of 1 MiB, a CLIPBOARD
    /// 16 MiB.
    private var large = CircularBuffer<Packet>()
    private var isWritingLarge = false

    private(set) var bytesReceived = 0
    private(set) var lastByte = NIODeadline.now()

    /// Creates the link of a new connection.
    ///
    /// - Throws: An error if there are too many connections even to send a refusal.
    init(
        channel: any Channel,
        owner: any AgentLinkOwner,
        policy: LinkStateMachine.Policy,
        strangers: AgentStrangers
    ) throws(AgentStrangers.Crowded) {
        isHeard = try strangers.arrived(channel)
        self.channel = channel
        self.owner = owner
        self.policy = policy
        self.strangers = strangers
        machine = LinkStateMachine(policy: policy, now: .now())
        decoder.leavesHeartbeats = true
        arm()
    }

    /// Sends a packet. An agent that lets packets pile up is dropped, because it does not read.
    func send(_ packet: Packet) {
        switch packet {
        case .watch, .clipboard:
            large.append(packet)
            return sendNextLarge()
        case .unwatch(_, let id) where large.contains(where: { $0.watchID == id }):
            return large.removeAll { $0.watchID == id }
        default: break
        }
        guard channel.isWritable else { return perform(machine.stalled()) }
        channel.writeAndFlush(ByteBuffer(bytes: packet.encoded()), promise: nil)
    }

    /// Sends the first large packet that waits, if none is being written.
    private func sendNextLarge() {
        guard !isWritingLarge, let next = large.popFirst() else { return }
        isWritingLarge = true
        channel.writeAndFlush(ByteBuffer(bytes: next.encoded())).whenComplete { [weak self] result in
            MediaLoop.assumeIsolated {
                self?.isWritingLarge = false
                if case .success = result { self?.sendNextLarge() }
            }
        }
    }

    /// Closes the link because a newer agent was admitted in its place.
    func displace() { perform(machine.displaced()) }

    /// Closes the link because the agent hangs.
    func abandon() { perform(machine.abandoned()) }

    /// Counts a useless packet as a report. Reports have a rate limit.
    func countReport() { perform(machine.reported()) }

    func close() { channel.close(promise: nil) }

    func opened() {
        if !isHeard { perform(machine.crowded()) }
    }

    /// Processes bytes from the agent.
    func received(_ bytes: ByteBuffer) {
        guard machine.takesBytes else { return }
        lastByte = .now()
        bytesReceived += bytes.readableBytes
        machine.bytesArrived(now: lastByte)
        decoder.append(bytes)
        receivePackets()
    }

    /// Processes all complete packets that have arrived.
    private func receivePackets() {
        do throws(WireError) {
            while let item = try nextItem() {
                switch item {
                case .packet(let packet): received(packet)
                case .unit(let session, let unit): received(unit, of: session)
                }
            }
        } catch {
            perform(machine.failed(error))
        }
    }

    /// Returns the next complete packet, if the state after the previous packet accepts it.
    private func nextItem() throws(WireError) -> PacketStream<ByteBuffer>.Item? {
        guard let limit = machine.maximumLength else { return nil }
        decoder.maximumLength = limit
        return try decoder.nextItem()
    }

    private func received(_ unit: EncodedUnit<ByteBuffer>, of session: SessionID) {
        let action = machine.receivedUnit()
        guard case .deliver = action, let agent else { return perform(action) }
        owner.link(self, received: unit, of: session, from: agent)
    }

    private func received(_ packet: Packet) {
        let action = machine.received(packet)
        guard case .deliver = action, let agent else { return perform(action) }
        guard case .unreadHeartbeat(let heartbeat) = packet else {
            return owner.link(self, received: packet, from: agent)
        }
        read(heartbeat, from: agent)
    }

    /// Reads a heartbeat on another thread, then delivers it.
    private func read(_ heartbeat: UnreadHeartbeat, from agent: AgentIdentity) {
        guard unread < Self.mostUnread else { return perform(machine.flooded()) }
        unread += 1
        Self.reader.submit { Result { () throws(WireError) in try heartbeat.read() } }
            .hop(to: MediaLoop.eventLoop)
            .whenSuccess { [weak self] result in MediaLoop.assumeIsolated { self?.haveRead(result, from: agent) } }
    }

    /// Delivers a heartbeat that was read on the other thread, or fails the link if it is malformed.
    private func haveRead(_ result: Result<Heartbeat, WireError>, from agent: AgentIdentity) {
        unread -= 1
        // The link may have been lost meanwhile.
        guard machine.isAdmitted else { return }
        switch result {
        case .success(let heartbeat): owner.link(self, received: .heartbeat(heartbeat), from: agent)
        case .failure(let error): perform(machine.failed(error))
        }
    }

    /// Checks whether the agent may be admitted. Meanwhile nothing more is read from it.
    private func judge(_ hello: Hello) {
        channel.setOption(.autoRead, value: false).whenFailure { [channel] _ in channel.close(promise: nil) }
        Task {
            let reject = await owner.objection(to: hello, on: channel)
            perform(machine.judged(hello, reject))
            channel.setOption(.autoRead, value: true).whenFailure { [channel] _ in channel.close(promise: nil) }
            // Process what arrived right after HELLO.
            receivePackets()
        }
    }

    func closed() {
        timer?.cancel()
        perform(machine.closed())
    }

    private func perform(_ action: LinkStateMachine.Action) {
        switch action {
        case .nothing, .deliver:
            break
        case .judge(let hello):
            judge(hello)
        case .admit(let hello):
            agent = AgentIdentity(hello)
            strangers.admitted(channel)
            // The watchdog's limit applies from now on. It may be shorter than HELLO's.
            arm()
            let heartbeat = min(Self.longestHeartbeat, .nanoseconds(policy.watchdog.nanoseconds / 3))
            send(
                .welcome(
                    Welcome(
                        heartbeatInterval: Int(max(1, heartbeat.milliseconds)),
                        maximumQueuedMedia: Self.maximumQueuedMedia,
                        takesRest: true,
                        takesUnchanged: true,
                        takesTracks: true,
                        takesAAC: true,
                        takesInputs: true
                    )
                )
            )
            owner.linkAdmitted(self, hello: hello)
        case .refuse(let reject):
            owner.linkRefused(reject)
            end(with: reject)
        case .lose(let loss, let reject):
            end(with: reject)
            if let agent { owner.link(self, lostBecause: loss, of: agent) }
        }
    }

    /// Closes the connection after sending `reject`.
    ///
    /// Only the output is closed at first. Closing a socket with unread bytes resets the connection, and the peer would
    /// lose the reason that is still on its way.
    private func end(with reject: Reject?) {
        guard let reject else { return close() }
        send(.reject(reject))
        channel.close(mode: .output, promise: nil)
        MediaLoop.schedule(at: .now() + Self.lingerTime) { [weak self] in self?.close() }
    }

    /// Schedules the machine's next timer.
    private func arm() {
        timer?.cancel()
        guard let wake = machine.wake else { return }
        timer = MediaLoop.schedule(at: wake) { [weak self] in
            guard let self else { return }
            perform(machine.timerFired(now: .now()))
            arm()
        }
    }
}

/// Passes an agent connection's bytes and its end to its ``AgentLink``.
final class AgentLinkHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let link: AgentLink

    init(link: AgentLink) { self.link = link }

    func channelActive(context: ChannelHandlerContext) {
        let link = link
        MediaLoop.assumeIsolated { link.opened() }
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let (link, bytes) = (link, unwrapInboundIn(data))
        MediaLoop.assumeIsolated { link.received(bytes) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        let link = link
        MediaLoop.assumeIsolated { link.closed() }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

extension Packet {
    /// The watch that a WATCH packet begins; `nil` of other packets.
    fileprivate var watchID: UInt32? {
        if case .watch(_, let watch) = self { watch.id } else { nil }
    }
}
