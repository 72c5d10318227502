import Media
import NIOCore
import Wire

/// A device's sound: the sessions that want it, and the agent that sends it.
@MediaLoop
final class DeviceSound {
    private var feed = SoundFeed()
    private var listeners: Set<SessionID> = []
    private let send: @MediaLoop (Packet, AgentRole) -> Void
    /// Audio packets and their bytes that went to sessions.
    private(set) var (packets, bytes): (UInt64, UInt64) = (0, 0)

    init(send: @escaping @MediaLoop (Packet, AgentRole) -> Void) { self.send = send }

    /// The audio tracks.
    var tracks: [MediaTrack] { feed.tracks }
    /// Why there is no sound, for people; `nil` if there is, or none is configured.
    var problem: String? { feed.problem }
    /// The agent that sends sound; `nil` if none does.
    var current: AgentRole? { feed.current }
    /// The agents that capture sound now.
    var capturing: [AgentRole] { feed.capturing }
    /// How often another agent continued the sound.
    var switches: UInt64 { feed.switches }
    /// Packets that sessions did not get.
    var discarded: UInt64 { feed.discarded }

    /// Records whether a session wants sound.
    func wants(_ wants: Bool, for session: SessionID) {
        if wants { listeners.insert(session) } else { listeners.remove(session) }
        perform(feed.want(!listeners.isEmpty))
    }

    func received(_ report: DeviceTracks, from role: AgentRole) { perform(feed.reported(role, report)) }

    func agentLost(_ role: AgentRole) { perform(feed.lost(role)) }

    /// Returns the unit as it goes to sessions; `nil` if they must not get it.
    func accept(_ unit: EncodedUnit<ByteBuffer>, from role: AgentRole) -> EncodedUnit<ByteBuffer>? {
        let now = Int64(clamping: NIODeadline.now().uptimeNanoseconds / 1000)
        guard let packet = unit.bytes.read({ OpusPacket($0) }),
            let header = feed.accept(unit.header, lasting: packet.microseconds, from: role, now: now)
        else { return nil }
        packets &+= 1
        bytes &+= UInt64(clamping: unit.bytes.readableBytes)
        return EncodedUnit(header, unit.bytes)
    }

    private func perform(_ orders: [SoundFeed.Order]) {
        for order in orders { send(.listen(order.listen), order.role) }
    }
}
