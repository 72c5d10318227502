package import Media
package import Wire

/// Decides which of a device's agents sends its sound, and what each is told about it.
///
/// An agent sends until it cannot: another one that returns does not interrupt it. Meanwhile the other one keeps the
/// last second, so that it continues where the first one ends. A pure value; its mutators return the new orders.
package struct SoundFeed: Sendable {
    package struct Order: Sendable, Equatable {
        package var role: AgentRole
        package var listen: Listen

        package init(_ role: AgentRole, _ listen: Listen) { (self.role, self.listen) = (role, listen) }
    }

    private struct Agent: Sendable {
        /// Its tracks; `nil` if it is not linked, or has not said.
        var tracks: [MediaTrack]?
        var problem: String?
        var captures = false
        /// Whether it encodes AAC, and why not; `nil` if it has not said.
        var (encodesAAC, aacProblem): (Bool?, String?)
        var told = Told()

        var hasSound: Bool { tracks?.isEmpty == false }
        var isAble: Bool { hasSound && problem == nil }
        var codecs: Set<SoundCodec> { Set((tracks ?? []).compactMap(\.soundCodec)) }
    }

    /// What an agent was told.
    private struct Told: Sendable, Equatable {
        var mode = Listen.Mode.off
        var codecs: Set<SoundCodec> = []
    }

    /// The last accepted unit of a codec.
    private struct Last: Sendable {
        /// Its end, in µs of the monotonic clock.
        var end: Int64
        /// When what follows it was captured, in monotonic ns.
        var captured: Int64
        /// Whether silence follows.
        var isSilent: Bool
    }

    /// How far a PTS may be from the clock, in µs. Agents and relay read the same clock.
    private static let reach: Int64 = 60_000_000
    /// Times are whole µs, so a packet may seem to begin this much after the end of the one before, in µs.
    private static let tolerance: Int64 = 2

    private var agents = EachRole(Agent())
    /// The agent that sends, or sent last.
    private var sender = AgentRole.primary
    /// The last accepted unit of each codec; none before the first one since the codec is wanted.
    private var last: [SoundCodec: Last] = [:]
    /// The codecs that sinks want.
    private var wanted: Set<SoundCodec> = []
    /// The device's audio tracks, one for each codec. They outlive their agent.
    package private(set) var tracks: [MediaTrack] = []
    /// How often another agent continued the sound.
    package private(set) var switches: UInt64 = 0
    /// Units that sessions did not get: of an agent that does not send, of an unknown track, or with a wrong time.
    package private(set) var discarded: UInt64 = 0

    package init() {}

    /// Why there is no sound, for people; `nil` if the agent that sends has no problem.
    package var problem: String? {
        agents[sender].isAble ? nil : agents[sender].problem ?? agents[sender.other].problem
    }

    /// The agent that sends sound; `nil` if none does.
    package var current: AgentRole? { agents[sender].told.mode == .send ? sender : nil }

    /// The codecs that it sends.
    package var codecs: Set<SoundCodec> { current == nil ? [] : agents[sender].told.codecs }

    /// Whether the agent that sends encodes AAC; `nil` if that is not known yet, because nobody has asked for it.
    package var encodesAAC: Bool? {
        guard agents[sender].hasSound else { return nil }
        return agents[sender].codecs.contains(.aac) ? agents[sender].encodesAAC : false
    }

    /// Why it does not, for people.
    package var aacProblem: String? { agents[sender].aacProblem }

    /// The agents that capture sound now.
    package var capturing: [AgentRole] { AgentRole.allCases.filter { agents[$0].captures } }

    /// Records an agent's report about its tracks.
    package mutating func reported(_ role: AgentRole, _ report: DeviceTracks) -> [Order] {
        (agents[role].tracks, agents[role].problem) = (report.sound, report.problem)
        agents[role].captures = report.captures ?? false
        (agents[role].encodesAAC, agents[role].aacProblem) = (report.encodesAAC, report.aacProblem)
        return orders()
    }

    package mutating func lost(_ role: AgentRole) -> [Order] {
        agents[role] = Agent()
        return orders()
    }

    /// Records in which codecs sinks want sound.
    package mutating func want(_ codecs: Set<SoundCodec>) -> [Order] {
        wanted = codecs
        last = last.filter { codecs.contains($0.key) }
        return orders()
    }

    /// Returns the unit as it goes to sessions, marked if sound is missing before it; `nil` if they must not get it.
    ///
    /// - Parameters:
    ///   - samples: Its duration, in samples at 48 kHz.
    ///   - now: In µs of the monotonic clock.
    package mutating func accept(
        _ header: UnitHeader,
        lasting samples: UInt32,
        from role: AgentRole,
        now: Int64
    ) -> UnitHeader? {
        let distance = header.pts.subtractingReportingOverflow(now)
        let track = tracks.first { $0.id == header.track }
        guard role == sender, let codec = track?.soundCodec, self.codecs.contains(codec),
            !distance.overflow, distance.partialValue.magnitude <= Self.reach.magnitude,
            header.pts >= last[codec]?.end ?? .min
        else {
            discarded += 1
            return nil
        }
        var header = header
        header.flags.remove(.gap)
        if let last = last[codec], !last.isSilent, header.pts &- last.end > Self.tolerance {
            header.flags.insert(.gap)
        }
        let duration = Int64(clamping: samples) &* 125 / 6
        last[codec] = Last(
            end: header.pts &+ duration,
            captured: Int64(clamping: header.captured) &+ duration &* 1000,
            isSilent: header.flags.contains(.silence)
        )
        return header
    }

    private mutating func orders() -> [Order] {
        let candidates = [sender, sender.other]
        let chosen = candidates.first { agents[$0].isAble } ?? candidates.first { agents[$0].hasSound } ?? sender
        if chosen != sender {
            sender = chosen
            if !last.isEmpty { switches += 1 }
        }
        let reports = [agents[sender].tracks, agents[sender.other].tracks].compactMap(\.self)
        if !reports.isEmpty { tracks = reports.first { !$0.isEmpty } ?? [] }
        return AgentRole.allCases.compactMap { role in
            let codecs = wanted.intersection(agents[role].codecs)
            let mode: Listen.Mode = codecs.isEmpty ? .off : role == sender ? .send : .ready
            let before = agents[role].told
            guard Told(mode: mode, codecs: codecs) != before else { return nil }
            agents[role].told = Told(mode: mode, codecs: codecs)
            // What it says next counts.
            if mode == .off { agents[role].captures = false }
            guard mode == .send, before.mode != .send else { return Order(role, Listen(mode, codecs)) }
            return Order(
                role,
                Listen(mode, codecs, after: last.mapValues { .init(from: $0.end, captured: $0.captured) })
            )
        }
    }
}

extension AgentRole {
    fileprivate var other: AgentRole { self == .primary ? .standby : .primary }
}
