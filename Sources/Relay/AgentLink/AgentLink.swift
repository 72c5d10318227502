import Media
import NIOCore
import NIOPosix
import Wire

/// Which agent is at a link's other end.
struct AgentIdentity: Sendable {
    let device: String
    let role: AgentRole

    init(_ hello: Hello) { (device, role) = (hello.device, hello.role) }
}

/// What an agent link reports to.
@MediaLoop
protocol AgentLinkOwner: AnyObject, Sendable {
    /// Returns why this agent at the other end of `channel` may not be admitted, or `nil` if it may. Takes its time: nothing waits for it but this link.
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

/// One agent's connection: cuts what it sends into packets, and performs what its state machine decides.
@MediaLoop
final class AgentLink {
    /// Media of a session that the agent may queue, ms.
    private static let maximumQueuedMedia = 1000
    private static let longestHeartbeat = TimeAmount.seconds(2)
    /// Most heartbeats that wait to be read: an agent sends a few a second.
    private static let mostUnread = 64
    /// Reads all links' heartbeats, one after the other: nothing else runs there.
    nonisolated static let reader: any EventLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    /// How long a refused peer is given to read why.
    private static let lingerTime = TimeAmount.seconds(1)

    private let channel: any Channel
    private let owner: any AgentLinkOwner
    private let policy: LinkStateMachine.Policy
    private let strangers: AgentStrangers
    private let isHeard: Bool
    private var machine: LinkStateMachine
    private var decoder = PacketStream<ByteBuffer>(accepting: .agentToRelay)
    /// Heartbeats that are being read elsewhere.
    private var unread = 0
    private var timer: Scheduled<Void>?
    /// Once it is admitted.
    private var agent: AgentIdentity?

    private(set) var bytesReceived = 0
    private(set) var lastByte = NIODeadline.now()

    /// - Throws: When there are too many connections to say so.
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

    /// Sends a packet. An agent that lets them pile up is lost: it reads nothing, and they would wait for ever.
    func send(_ packet: Packet) {
        guard channel.isWritable else { return perform(machine.stalled()) }
        channel.writeAndFlush(ByteBuffer(bytes: packet.encoded()), promise: nil)
    }

    /// A newer agent has been admitted in its place.
    func displace() { perform(machine.displaced()) }

    /// Gives up an agent that hangs.
    func abandon() { perform(machine.abandoned()) }

    /// Counts a packet that was of no use as a report, of which an agent may send so many.
    func countReport() { perform(machine.reported()) }

    func close() { channel.close(promise: nil) }

    func opened() {
        if !isHeard { perform(machine.crowded()) }
    }

    /// Takes in what the agent sends.
    func received(_ bytes: ByteBuffer) {
        guard machine.takesBytes else { return }
        lastByte = .now()
        bytesReceived += bytes.readableBytes
        machine.bytesArrived(now: lastByte)
        decoder.append(bytes)
        receivePackets()
    }

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

    /// The next whole packet that is accepted in the state that the one before has led to.
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

    /// Has a heartbeat read on another thread, and then delivered.
    private func read(_ heartbeat: UnreadHeartbeat, from agent: AgentIdentity) {
        guard unread < Self.mostUnread else { return perform(machine.flooded()) }
        unread += 1
        Self.reader.submit { Result { () throws(WireError) in try heartbeat.read() } }
            .hop(to: MediaLoop.eventLoop)
            .whenSuccess { [weak self] result in MediaLoop.assumeIsolated { self?.haveRead(result, from: agent) } }
    }

    private func haveRead(_ result: Result<Heartbeat, WireError>, from agent: AgentIdentity) {
        unread -= 1
        // It may have been lost meanwhile.
        guard machine.isAdmitted else { return }
        switch result {
        case .success(let heartbeat): owner.link(self, received: .heartbeat(heartbeat), from: agent)
        case .failure(let error): perform(machine.failed(error))
        }
    }

    /// Asks whether the agent may be admitted. Meanwhile nothing more is read from it.
    private func judge(_ hello: Hello) {
        channel.setOption(.autoRead, value: false).whenFailure { [channel] _ in channel.close(promise: nil) }
        Task {
            let reject = await owner.objection(to: hello, on: channel)
            perform(machine.judged(hello, reject))
            channel.setOption(.autoRead, value: true).whenFailure { [channel] _ in channel.close(promise: nil) }
            // What came right behind HELLO.
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
            // From now on the watchdog's time counts, which may be shorter than HELLO's.
            arm()
            let heartbeat = min(Self.longestHeartbeat, .nanoseconds(policy.watchdog.nanoseconds / 3))
            send(
                .welcome(
                    Welcome(
                        heartbeatInterval: Int(max(1, heartbeat.milliseconds)),
                        maximumQueuedMedia: Self.maximumQueuedMedia,
                        takesRest: true,
                        takesUnchanged: true,
                        takesTracks: true
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

    /// Closes behind `reject`. Output first: a socket closed with unread bytes resets the connection, and the peer would lose the
    /// reason that is still on its way.
    private func end(with reject: Reject?) {
        guard let reject else { return close() }
        send(.reject(reject))
        channel.close(mode: .output, promise: nil)
        MediaLoop.schedule(at: .now() + Self.lingerTime) { [weak self] in self?.close() }
    }

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

/// Hands an agent's connection's bytes and its end to its ``AgentLink``.
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
