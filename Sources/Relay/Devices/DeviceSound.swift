import Media
import NIOCore
import Wire

/// A device's sound: the sessions that want it, and the agent that sends it.
@MediaLoop
final class DeviceSound {
    private var feed = SoundFeed()
    private var listeners: [SessionID: Set<SoundCodec>] = [:]
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

    /// The codecs that the agent encodes now.
    var codecs: [SoundCodec] { SoundCodec.allCases.filter(feed.codecs.contains) }
    /// Whether agents encode AAC; `nil` if that is not known yet.
    var encodesAAC: Bool? { feed.encodesAAC }
    /// Why agents do not encode AAC, for people.
    var aacProblem: String? { feed.aacProblem }

    /// Records in which codecs a session wants sound.
    func wants(_ codecs: Set<SoundCodec>, for session: SessionID) {
        listeners[session] = codecs.isEmpty ? nil : codecs
        perform(feed.want(listeners.values.reduce(into: []) { $0.formUnion($1) }))
    }

    func received(_ report: DeviceTracks, from role: AgentRole) { perform(feed.reported(role, report)) }

    func agentLost(_ role: AgentRole) { perform(feed.lost(role)) }

    /// Returns the unit as it goes to sessions; `nil` if they must not get it.
    func accept(_ unit: EncodedUnit<ByteBuffer>, from role: AgentRole) -> EncodedUnit<ByteBuffer>? {
        let now = Int64(clamping: NIODeadline.now().uptimeNanoseconds / 1000)
        guard let codec = tracks.first(where: { $0.id == unit.header.track })?.soundCodec,
            let samples = unit.bytes.read({ codec.duration(of: $0) }),
            let header = feed.accept(unit.header, lasting: samples, from: role, now: now)
        else { return nil }
        packets &+= 1
        bytes &+= UInt64(clamping: unit.bytes.readableBytes)
        return EncodedUnit(header, unit.bytes)
    }

    private func perform(_ orders: [SoundFeed.Order]) {
        for order in orders { send(.listen(order.listen), order.role) }
    }
}
