import Media
import TestSupport
import Wire

/// The agent's end of a link.
final class FuzzAgent {
    let device: String
    let role: AgentRole
    private let ledger: UnitLedger
    private let number: Int
    private let pictures: [Codec: RealPictures]
    private var peer: Peer?
    private var decoder = PacketDecoder(accepting: .relayToAgent)
    private var kitchens: [SessionID: UnitKitchen] = [:]
    /// The last access unit sent for each session.
    private var predecessors: [SessionID: UInt64] = [:]

    /// What it knows about the sessions that the relay has named.
    private(set) var sessions: [SessionID: SessionParameters] = [:]
    /// The sessions that it must encode.
    private(set) var active: Set<SessionID> = []
    /// The requests that keyframes must answer.
    private(set) var requests: [SessionID: UInt32] = [:]
    private(set) var snapshots: [(session: SessionID, request: SnapshotRequest)] = []
    /// Sessions that the relay has handed back.
    private(set) var rested = 0
    private(set) var isAdmitted = false
    /// Why the relay has refused it or ended the link; `nil` if the relay has not said so.
    private(set) var rejected: Reject.Code?
    /// What the relay sent that does not follow the protocol.
    private(set) var fault: Fault?
    private(set) var packets = 0
    private(set) var units = 0

    init(device: String, role: AgentRole, ledger: UnitLedger, pictures: [Codec: RealPictures]) {
        (self.device, self.role, self.ledger, self.pictures) = (device, role, ledger, pictures)
        number = ledger.nextLink()
    }

    deinit { peer?.close() }

    /// Connects without sending anything.
    func connect(port: Int, on loop: Loop) throws {
        let peer = try Peer(port: port) { [weak self] in self?.take($0) }
        loop.add(peer)
        self.peer = peer
    }

    /// Sends HELLO.
    func greet(_ hello: Hello) { send(.hello(hello)) }

    /// Whether the link is established.
    var isLinked: Bool { isAdmitted && rejected == nil && peer?.isOpen == true }

    /// Whether the relay has answered HELLO, or has ended the connection.
    var isAnswered: Bool { isAdmitted || rejected != nil || peer?.isOpen != true }

    func send(_ packet: Packet) {
        packets += 1
        peer?.send(packet.encoded())
    }

    /// Sends bytes, which may be packets or not.
    func send(bytes: [UInt8], packets: Int = 0) {
        self.packets += packets
        peer?.send(bytes)
    }

    var isFlushed: Bool { peer?.isFlushed ?? true }

    func end(_ ending: Ending) {
        switch ending {
        case .close: peer?.close()
        case .reset: peer?.reset()
        case .half: peer?.closeOutput()
        }
    }

    /// Stops reading, or continues to read, what the relay sends.
    func read(_ reads: Bool) { peer?.reads = reads }

    /// Returns the packet of the session's next access unit and records it in the ledger.
    func unit(_ recipe: UnitRecipe, of session: SessionID, codec: Codec) -> AccessUnit {
        let number = ledger.next()
        let content = kitchens[session, default: UnitKitchen(codec: codec, pictures: pictures)].make(
            recipe,
            number: number
        )
        ledger.add(
            UnitLedger.Entry(
                number: number,
                session: session,
                link: self.number,
                isKey: content.isKey,
                predecessor: predecessors[session],
                content: content
            )
        )
        predecessors[session] = number
        units += 1
        let now = UInt64(monotonicNow())
        let epoch = sessions[session]?.epoch ?? 0
        return AccessUnit(
            pts: Int64(clamping: (now - min(now, epoch)) / 1000),
            captured: now,
            encodeStart: now,
            encodeEnd: now,
            flags: content.isKey ? .key : [],
            keyframeRequest: content.isKey ? requests[session] ?? 0 : 0,
            size: PictureSize(width: 64, height: 64),
            bytes: content.bytes
        )
    }

    func takeSnapshots() -> [(session: SessionID, request: SnapshotRequest)] {
        defer { snapshots = [] }
        return snapshots
    }

    private func take(_ bytes: [UInt8]) {
        guard fault == nil else { return }
        decoder.append(bytes)
        do throws(WireError) {
            while let packet = try decoder.next() { take(packet) }
        } catch {
            fault = Fault("the relay's bytes are not the protocol", "\(error)")
        }
    }

    private func take(_ packet: Packet) {
        switch packet {
        case .welcome: isAdmitted = true
        case .reject(let reject): rejected = reject.code
        case .sessionAdd(let id, let parameters): sessions[id] = parameters
        case .sessionUpdate(let id, let update):
            sessions[id] = sessions[id].map(update.applied)
            if update.isActive == true { active.insert(id) }
            if update.isActive == false { active.remove(id) }
        case .sessionRemove(let id):
            sessions[id] = nil
            active.remove(id)
            requests[id] = nil
        case .keyframeRequest(let id, let request): requests[id] = request
        case .snapshotRequest(let id, let request): snapshots.append((id, request))
        case .rested: rested += 1
        default: break
        }
    }
}

/// The ways to end a connection.
enum Ending: CaseIterable, Sendable {
    case close, reset
    /// Only the sending side.
    case half
}
